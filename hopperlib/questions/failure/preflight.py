"""Question: which nodes have too little memory free before a run."""

from hopperlib.errors import InputError
from hopperlib.failure.nodes.preflight import node_list, read_buddyinfo, report
from hopperlib.failure.nodes.risk import chance_of_bad_node
from hopperlib.questions.question import Asked, declared, is_sample
from hopperlib.questions.result import Result


class _Copies(Asked):
    """Copies of some nodes, and what a job needs of each; a need of zero asks for nothing."""

    def result(self) -> Result:
        """Return the answer."""
        huge_bytes, need_gb = round(self.huge_page_mb * 2**20), self.need_gb or None
        try:
            nodes, unread = read_buddyinfo(self.buddyinfo.splitlines(), page_bytes=self.page_bytes)
            checked = report(nodes, need_gb=need_gb, need_huge_pages=self.need_huge_pages, huge_page_bytes=huge_bytes)
            checked.nodes[0].huge_pages(huge_bytes)
        except ValueError as error:
            raise InputError(str(error), name="buddyinfo") from error
        seen, short = len(checked.nodes), checked.short
        return self.said(
            found=checked,
            short=short,
            least=checked.nodes[0],
            short_names=node_list(node.name for node in short),
            outlier_names=node_list(node.name for node in checked.outliers),
            task_numbers=any(node.name.isdigit() for node in short),
            unread=unread,
            sample=is_sample(QUESTION, "buddyinfo", self.buddyinfo),
            too_large=self.job_nodes > seen,
            chance=1 - chance_of_bad_node(seen, len(short), self.job_nodes) if 0 < self.job_nodes <= seen else None,
            asked_gb=need_gb,
            nodes=[
                {
                    "of": node,
                    "huge_pages": node.huge_pages(huge_bytes),
                    "short": node in short,
                    "outlier": node in checked.outliers,
                }
                for node in checked.nodes
            ],
        ).result()


QUESTION = declared(__name__, _Copies.answer)
