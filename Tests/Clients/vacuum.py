"""Prints what vacuum's recommended rules find in a contract and nobody has explained; status 1 if there is something.

    vacuum.py REPORT     of `vacuum spectral-report`
"""

import json
import sys
from collections import Counter

# By rule, why its findings stand.
EXPLAINED = {
    "paths-kebab-case": "Paths name objects as JSON does, with underscores: `verification_sessions`.",
    "description-duplication": "One fact has one wording, wherever it comes: a status, a header, a time in Unix seconds.",
    "oas3-missing-example": "Each operation has an example of its request and its reply, which shows all members at once.",
}

with open(sys.argv[1], encoding="utf-8") as file:
    findings = json.load(file)
unexplained = [one for one in findings if one["code"] not in EXPLAINED]
for one in unexplained[:40]:
    print(one["code"], "/".join(one["path"]), one["message"])
count = Counter(one["code"] for one in findings)
for rule in EXPLAINED.keys() - count.keys():
    print(f"{rule} is explained, and finds nothing")
print(f"vacuum: {len(findings)} findings, {len(unexplained)} of them unexplained")
sys.exit(bool(unexplained) or bool(EXPLAINED.keys() - count.keys()))
