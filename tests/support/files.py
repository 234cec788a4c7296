# SPDX-License-Identifier: Apache-2.0
"""Files that others read meanwhile."""
import os


def replace(path, text):
    """By rename, as configuration is replaced: whoever reads the file sees the old text or the new one."""
    temporary = f"{path}.new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
