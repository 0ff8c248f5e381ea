"""Cases of a window that follows one with computed values: each window is a separate `keep`."""

import re
from collections.abc import Callable

import values
from cases import Case
from compare import Answer

# An engine may cut a case, so it returns the cases as they ran with the answers.
Engine = Callable[[list[Case]], tuple[list[Case], list[Answer]]]

FOLLOWED = re.compile(r"(#(?:size|uni|linest|correl|weighted_avg)\b[^#]*)(#(?!merge).*)")


def answered(cases: list[Case], engine: Engine) -> tuple[list[Case], list[Answer]]:
    """Answer all cases; cases of two windows take two runs."""
    ran, answers = engine([_computing(case) if _is_chained(case) else case for case in cases])
    found = {case["name"]: [case, answer] for case, answer in zip(ran, answers, strict=True)}
    retained = {}
    seconds = []
    for case in filter(_is_chained, cases):
        answer = found[case["name"]][1]
        if "failure" not in answer:
            retained[case["name"]] = _computed(answer)
            seconds.append(_retaining(case, retained[case["name"]]))
    if seconds:
        for case, answer in zip(*engine(seconds), strict=True):
            expect = found[case["name"]][0]["expect"]
            rows = retained[case["name"]]
            found[case["name"]] = [{**case, "expect": expect}, _of_rows(answer, rows)]
    return [found[case["name"]][0] for case in cases], [found[case["name"]][1] for case in cases]


def _is_chained(case: Case) -> bool:
    return values.computes(case) and bool(FOLLOWED.search(case["policy"]))


def _computing(case: Case) -> Case:
    return {**case, "policy": FOLLOWED.sub(r"\1", case["policy"])}


def _computed(answer: Answer) -> list[dict]:
    """Return the rows that the first window computes, with their times."""
    posts = answer["posts"] if "posts" in answer else answer["posts_by_group"]
    return [{"at": step["at"], "row": row} for step in posts for row in step["insert"]]


def _retaining(case: Case, rows: list[dict]) -> Case:
    kinds = {name: "double" for entry in rows for name in entry["row"]}
    numbered = [
        {"at": entry["at"], "row": {**entry["row"], "id": number}}
        for number, entry in enumerate(rows)
    ]
    return {
        "name": case["name"],
        "dialect": "esper",
        "policy": FOLLOWED.search(case["policy"]).group(2),
        "schema": {"id": "long", **kinds},
        "input": numbered,
        "expect": [],
        "left_out": {},
    }


def _of_rows(answer: Answer, rows: list[dict]) -> Answer:
    if "steps" not in answer:
        return answer
    posts = [
        {
            "at": step["at"],
            **{
                side: [rows[number]["row"] for number in step[side]]
                for side in ("insert", "remove")
            },
        }
        for step in answer["steps"]
    ]
    return {"posts": posts}
