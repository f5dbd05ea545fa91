"""Holds recorded replies against the models that datamodel-code-generator has made.

    models.py MODELS REPLIES     MODELS is the generated file, REPLIES the folder with N-NAME.json, NAME a model
"""

import importlib.util
import pathlib
import sys
from collections import Counter

specification = importlib.util.spec_from_file_location("models", sys.argv[1])
models = importlib.util.module_from_spec(specification)
sys.modules["models"] = models
specification.loader.exec_module(models)
read = Counter()
later = 0
for file in sorted(pathlib.Path(sys.argv[2]).iterdir()):
    name = file.stem.partition("-")[2]
    getattr(models, name).model_validate_json(file.read_bytes())
    read[name] += 1
    later += b"later_value" in file.read_bytes()
assert later >= 4 and {"Event", "EventList", "Problem", "VerificationReport", "VerificationSession"} <= read.keys(), read
print(f"pydantic: {sum(read.values())} replies of {len(read)} types, {later} of a later version")
