"""Write ``data/forecasts.csv`` anew: ``make forecasts``."""

from hopperbook.forecasts import to_csv
from hopperlib.data_files import data_folder

if __name__ == "__main__":
    (data_folder() / "forecasts.csv").write_text(to_csv(), encoding="utf-8")
