"""gfxsim, in C, for tandem.sim."""

from typing import Any, final

checks: dict[str, int]

@final
class Program:
    @property
    def chip(self) -> str: ...
    def kernels(self) -> list[dict[str, Any]]: ...
    def run(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        segment: bytes,
        arrays: list[tuple[int, str, Any]],
        lds: int,
        workgroups: str | None,
        count: bool,
        time: bool,
        skip_mfma: bool,
        warm: bool,
        rounds: int,
        trace: bytes | None,
        trace_cus: str | None,
    ) -> dict[str, Any]: ...

def open(
    data: bytes,
    chip: str | None,
    threads: int,
    budget: int,
    loose_bounds: bool,
    unchecked: int,
    checked: int,
    reports: int,
    stack: int,
    turn: int,
    seed: int,
) -> Program: ...
