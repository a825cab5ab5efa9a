"""The dataset's card: written last, from what is there, so that its counts and digests are those of the files.

`load_dataset` keys its cache by the folder's name and this card, never by the files: a card that did not change
would make it return the rows of an earlier build, or those of another folder of the same name.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError

from ..dataset.schema import CONFIGS, SPLIT, Config, Reader, Written, columns_of, yaml_features
from ..publishing.benchmark import eval_yaml
from .hashes import Hashes
from .statistics import columns_text, configs_text, counts, licence_ids, licences_text, statistics_text, totals_text

HOME = "convergebench/convergebench"
PATTERNS = {"steps": "data/steps/*/*.parquet"}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
FIRST = "Not published yet."
VERSIONS = r"this card changed\.\n\n(.*?)\n\n## Cite"


def write(
    folder: Path, repo: str | None = None, fresh: Mapping[str, Written] | None = None, versions: str | None = None
) -> Path:
    """Write README.md and eval.yaml from the files under data/; the list of published versions stays as it is."""
    import yaml

    refuse_strangers(folder)
    template = (Path(__file__).parent / "dataset_card.md").read_text(encoding="utf-8")
    _, head, body = template.split("---\n", 2)
    reader = Reader(folder)
    hashes = Hashes(folder, fresh or {})
    infos = {name: about for name in CONFIGS if (about := info(reader, hashes, CONFIGS[name]))}
    hashes.save()
    known = counts(reader)
    meta: dict[str, Any] = yaml.safe_load(head)
    meta["license"] = licence_ids(known)
    meta["size_categories"] = [next((words for most, words in SIZES if known.steps < most), "n>1M")]
    meta["configs"] = [about["config"] for about in infos.values()]
    meta["dataset_info"] = [about["dataset_info"] for about in infos.values()]
    editor = next(iter(known.editors), "paint")
    values = {
        "repo": repo or previous(folder, r'load_dataset\("([^"]+/[^"]+)", split') or HOME,
        "totals": totals_text(known),
        "editor": editor,
        "editor_files": f"data/steps/{known.folders.get(editor, editor)}/*.parquet",
        "configs": configs_text(infos),
        "columns": columns_text({name: about["columns"] for name, about in infos.items()}),
        "statistics": statistics_text(known),
        "licences": licences_text(known),
        "versions": versions or previous(folder, VERSIONS) or FIRST,
    }
    replace(folder / "eval.yaml", eval_yaml(infos))
    text = "---\n" + yaml.safe_dump(meta, sort_keys=False, allow_unicode=True, width=120) + "---\n" + fill(body, values)
    return replace(folder / "README.md", text)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put the values in the place of {{name}}."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], text)


def info(reader: Reader, hashes: Hashes, config: Config) -> dict[str, Any] | None:
    """What the card says of a config; None where it has no files."""
    files = reader.files(config.name)
    if not files:
        return None
    footers = [reader.footer(file) for file in files]
    columns = columns_of(footers[0].schema.to_arrow_schema(), config.name)
    rows = sum(footer.num_rows for footer in footers)
    size = sum(footer.row_group(group).total_byte_size for footer in footers for group in range(footer.num_row_groups))
    download = sum((Path(reader.folder) / file).stat().st_size for file in files)
    described: dict[str, Any] = {"config_name": config.name}
    if config.name == "steps":
        described["default"] = True
    described["description"] = f"A row is {config.row}. {rows:,} rows, content sha256 {digest(files, hashes.of)}"
    pattern = PATTERNS.get(config.name, f"data/{config.name}/*.parquet")
    described["data_files"] = [{"split": SPLIT, "path": pattern}]
    return {
        "config": described,
        "columns": columns,
        "rows": rows,
        "files": len(files),
        "download": download,
        "dataset_info": {
            "config_name": config.name,
            "features": yaml_features(columns),
            "splits": [{"name": SPLIT, "num_bytes": size, "num_examples": rows}],
            "download_size": download,
            "dataset_size": size,
        },
    }


def digest(files: Sequence[str], hash_of: Callable[[str], str]) -> str:
    """One hash for a config: it changes when any of its files does."""
    return sha256("".join(f"{file} {hash_of(file)}\n" for file in files).encode()).hexdigest()


def front_matter(path: Path) -> tuple[dict[str, Any], str]:
    """A card's YAML and the text after it."""
    import yaml

    parts = path.read_text(encoding="utf-8").split("---\n", 2)
    if len(parts) < 3 or parts[0]:
        raise UserError(f"{path} does not begin with YAML between two lines of ---")
    return yaml.safe_load(parts[1]) or {}, parts[2]


def previous(folder: Path, pattern: str) -> str | None:
    """A passage of the card that is there, kept when the card is written again."""
    path = folder / "README.md"
    found = re.search(pattern, path.read_text(encoding="utf-8"), re.DOTALL) if path.exists() else None
    return found[1].strip() if found else None


def refuse_strangers(folder: Path) -> None:
    """A folder that holds something else is left alone."""
    if (folder / "run.json").exists():
        raise UserError(f"{folder} holds a chain store; give another folder for the dataset")
    path = folder / "README.md"
    if (
        path.exists()
        and "\n- convergebench\n" not in path.read_text(encoding="utf-8", errors="replace").split("\n---\n")[0]
    ):
        raise UserError(f"{path} is not a card of this benchmark; give another folder for the dataset")


def replace(path: Path, text: str) -> Path:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    return part.replace(path)
