"""Starts the kernels of notebooks as forks of one process: a second each where that has imported their common modules,
which takes seconds and pays for more than a few notebooks.
"""

import os
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

from jupyter_client.manager import AsyncKernelManager

# Or the debugger of a kernel requires another Python.
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"

# So many notebooks load faster together.
_FEW = 3


def begin_to_load(notebooks: int) -> None:
    """Start the process that kernels are copies of, in parallel with the other steps that begin a build; for a few
    notebooks it loads nothing, and each loads what it needs.
    """
    if notebooks > _FEW:
        ForkServerContext().set_forkserver_preload(["hopperbook.warm"])
    forkserver.ensure_running()


def _serve(connection_file: str, folder: str) -> None:
    """Be a kernel, which ends with the process that it is a copy of."""
    from ipykernel.kernelapp import IPKernelApp

    from hopperkit.render.widgets import register_here

    os.chdir(folder)
    # Of warnings it has one: that it speaks over TCP, to this machine alone.
    quiet = "--IPKernelApp.log_level=ERROR"
    kernel: Any = IPKernelApp.instance()
    kernel.initialize(["-f", connection_file, f"--IPKernelApp.parent_handle={os.getppid()}", quiet])
    # hopperkit was loaded before there was a notebook that it could find.
    register_here()
    kernel.start()


class _Kernel(ForkServerProcess):
    """A process with the interface of `subprocess.Popen` that Jupyter uses."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        """Return its exit status, or None while it runs."""
        return self.exitcode

    def wait(self) -> int | None:
        """Wait until it has ended."""
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        """Interrupt it, or end it."""
        os.kill(self.pid or 0, number)


class ForkedKernel(AsyncKernelManager):
    """Starts a kernel of this Python by a copy, and looks after it as after any other."""

    async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
        local: Any = self.provisioner
        local.process = _Kernel(target=_serve, args=(self.connection_file, options["cwd"]))
        local.process.start()
        local.pid = local.process.pid
        self._reconcile_connection_info(local.connection_info)

    _launch_kernel = _async_launch_kernel
