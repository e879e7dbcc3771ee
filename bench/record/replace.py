"""Result files of the scripts in Python: what was there stays whole until the new file is on the disk (files/result.h does this for
the programs). A killed script leaves FILE.NUMBER.tandem-tmp."""
import contextlib
import os
import shutil


@contextlib.contextmanager
def replacing(path):
    """As open(path, "w"): the file is put in place at the end of the block, unless that raises."""
    temporary = f"{path}.{os.getpid()}.tandem-tmp"
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise
