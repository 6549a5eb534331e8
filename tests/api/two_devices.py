#!/usr/bin/env python3
"""Runs the tests of several devices: the loader takes a copy of the driver's library for a second driver.

usage: two_devices.py TEST_PROGRAM      (VK_DRIVER_FILES names one driver)
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

manifest = pathlib.Path(os.environ["VK_DRIVER_FILES"].split(":")[0])
description = json.loads(manifest.read_text())
library = manifest.parent / description["ICD"]["library_path"]
if not library.exists():
    print("skipped: the driver's manifest names no file")
    sys.exit(0)
with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder) / ("copy_of_" + library.name)
    shutil.copy(library, copy)
    description["ICD"]["library_path"] = str(copy)
    second = pathlib.Path(folder) / "second.json"
    second.write_text(json.dumps(description))
    environment = dict(os.environ, VK_DRIVER_FILES=f"{manifest}:{second}")
    run = subprocess.run([sys.argv[1], "--gtest_filter=*TwoDevices*"], env=environment, stdout=subprocess.PIPE, text=True)
print(run.stdout)
sys.exit(run.returncode or "skipped: there is one device" in run.stdout)
