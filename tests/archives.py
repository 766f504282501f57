"""Small archives in the real formats, for the tests of the corpora."""

import io
import tarfile
import zipfile


def write_tar(path, files, links=()):
    """Write a tar archive with files (name -> bytes) and links (name, target, type)."""
    with tarfile.open(path, "w:xz" if path.name.endswith("xz") else "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target, kind in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member)
    return path


def write_zip(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return path
