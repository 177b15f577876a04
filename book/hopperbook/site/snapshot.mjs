// Makes the memory of Python after it has read the models: node snapshot.mjs PYODIDE PACKAGE.zip OUT
//
// A page that loads this memory need not start Python, nor import anything. No JavaScript object may be
// alive in it, so everything is done in Python's own words.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

// What Python says; of an error that nobody catches, Node would print the source of Pyodide instead.
process.on("uncaughtException", ({ message }) => {
  console.error(message);
  process.exit(1);
});

const [folder, zip, out] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${folder}/`, packages: [], _makeSnapshot: true, env: { HOME: "/home/pyodide", PYTHONHASHSEED: "0" } });
python.unpackArchive(new Uint8Array(readFileSync(zip)), "zip", { extractDir: "/models" });
python.runPython(`
import sys
sys.path.insert(0, "/models")
from hopperbook.live import ready
ready()
del ready


def unpack(event, arguments, waits=[True]):
    """Unpack the models' files when the first is asked for: they are no part of the memory, and few answers need one."""
    if waits and event in ("open", "import", "os.listdir", "os.scandir") and str(arguments[0]).startswith(("/models/", "hopperlib.", "hopperkit.", "hopperbook.")):
        waits.clear()
        from zipfile import ZipFile
        ZipFile("/models.zip").extractall("/models")


import gc, zipfile
gc.collect()
sys.addaudithook(unpack)
`);
writeFileSync(out, gzipSync(python.makeMemorySnapshot(), { level: 6 }));
