"""Whose repository a folder is: real repositories of git, and folders that only look like them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.slug import check_slug
from memory_mcp.settings.repository import Repository, repository_of
from tests.repositories import git, repository


def identity(folder: Path) -> Path:
    found = repository_of(folder)
    assert found is not None
    return found.identity


def pointing(folder: Path, text: str | bytes) -> Path:
    """A folder with a `.git` file."""
    folder.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    (folder / ".git").write_bytes(data)
    return folder


def test_sub_folders_and_work_trees_are_the_same_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "Parcel Service")
    (repo / "sub" / "deep").mkdir(parents=True)
    git(repo, "worktree", "add", "-q", "../wt")
    (tmp_path / "wt" / "below").mkdir()
    same = {
        repository_of(folder).id  # type: ignore[union-attr]  # else the test fails, as it should
        for folder in (repo, repo / "sub" / "deep", tmp_path / "wt", tmp_path / "wt" / "below")
    }
    (only,) = same
    assert only.startswith("parcel-service-")
    assert repository_of(tmp_path / "wt") == Repository(tmp_path / "wt", repo / ".git")


def test_a_work_tree_with_relative_paths_and_one_that_git_moved_are_the_same_project(
    tmp_path: Path,
) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "../old")
    git(repo, "worktree", "move", "../old", "../wt")
    assert identity(tmp_path / "wt") == repo / ".git"
    inner = repo / ".git" / "worktrees" / "old"
    (tmp_path / "wt" / ".git").write_text("gitdir: ../repo/.git/worktrees/old\n", encoding="utf-8")
    (inner / "gitdir").write_text("../../../../wt/.git\n", encoding="utf-8")
    assert identity(tmp_path / "wt") == repo / ".git"


def test_two_repositories_of_one_name_are_two_projects(tmp_path: Path) -> None:
    one, other = repository(tmp_path / "a" / "repo"), repository(tmp_path / "b" / "repo")
    ids = {repository_of(folder).id for folder in (one, other)}  # type: ignore[union-attr]
    assert len(ids) == 2
    assert all(name.startswith("repo-") for name in ids)


def test_a_bare_repository_is_no_work_tree_and_its_work_trees_share_it(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(tmp_path, "clone", "-q", "--bare", "repo", "outer/store.git")
    bare = tmp_path / "outer" / "store.git"
    git(bare, "worktree", "add", "-q", "../one")
    git(bare, "worktree", "add", "-q", "-b", "two", "../two")
    assert repository_of(bare) is None
    assert repository_of(bare / "hooks") is None
    assert repository_of(repo / ".git" / "hooks") is None
    assert identity(tmp_path / "outer" / "one") == identity(tmp_path / "outer" / "two") == bare
    found = repository_of(tmp_path / "outer" / "one")
    assert found is not None
    assert found.id.startswith("store-")


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    library, repo = repository(tmp_path / "library"), repository(tmp_path / "repo")
    git(repo, "submodule", "add", "-q", str(library), "vendor/lib")
    assert identity(repo / "vendor") == repo / ".git"
    assert identity(repo / "vendor" / "lib") == repo / ".git" / "modules" / "vendor" / "lib"
    git(repo / "vendor" / "lib", "worktree", "add", "-q", str(tmp_path / "libwt"))
    assert identity(tmp_path / "libwt") == identity(repo / "vendor" / "lib")


def test_a_repository_that_is_kept_elsewhere_is_known_by_its_work_tree(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    repository(folder, f"--separate-git-dir={tmp_path / 'kept'}")
    assert repository_of(folder) == Repository(folder, folder)


def test_a_link_to_a_folder_of_the_repository_leads_to_the_same_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    (repo / "sub").mkdir()
    (tmp_path / "way").symlink_to(repo / "sub")
    assert identity(tmp_path / "way") == repo / ".git"


@pytest.mark.parametrize(
    "text",
    [
        "gitdir: {repo}/.git",
        "gitdir: {repo}/.git\n",
        "gitdir: {repo}/.git/worktrees/wt\n",
        "gitdir: {bare}\n",
        "gitdir: {repo}/.git/modules/lib\n",
    ],
)
def test_a_folder_that_only_says_it_belongs_to_a_repository_does_not_get_into_it(
    tmp_path: Path, text: str
) -> None:
    repo, library = repository(tmp_path / "secret"), repository(tmp_path / "library")
    git(repo, "worktree", "add", "-q", "../wt")
    git(repo, "submodule", "add", "-q", "--name", "lib", str(library), "lib")
    git(tmp_path, "clone", "-q", "--bare", "secret", "store.git")
    stranger = pointing(tmp_path / "stranger", text.format(repo=repo, bare=tmp_path / "store.git"))
    assert repository_of(stranger) == Repository(stranger, stranger)


def test_a_git_folder_that_is_a_link_or_names_another_does_not_get_into_it(tmp_path: Path) -> None:
    repo = repository(tmp_path / "secret")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(repo / ".git")
    assert identity(linked) == linked
    copied = tmp_path / "copied"
    shutil.copytree(repo, copied)
    (copied / ".git" / "commondir").write_text(f"{repo}/.git\n", encoding="utf-8")
    assert identity(copied) == copied / ".git"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"gitdir: ",
        b"gitdir: /nowhere/at/all\n",
        b"gitdir:\n/x",
        b"gitdir: a\0b",
        b"gitdir: ../outer",
        b"gitdir: \xff\xfe",
        b"x" * 200_000,
        b"gitdir: .git\n",
    ],
)
def test_a_broken_git_file_is_no_project_nor_the_one_around_it(
    tmp_path: Path, data: bytes
) -> None:
    outer = repository(tmp_path / "outer")
    inner = pointing(outer / "inner", data)
    assert repository_of(inner) is None
    assert repository_of(outer) is not None


def test_an_orphaned_work_tree_is_no_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "../wt")
    shutil.rmtree(repo)
    assert repository_of(tmp_path / "wt") is None


def test_what_is_not_there_or_no_path_is_no_project(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    for folder in (tmp_path, tmp_path / "gone", "\0", tmp_path / ("x" * 5000)):
        assert repository_of(folder) is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pointing").resolve()


@given(data=st.binary(max_size=300))
def test_any_git_file_is_read_or_passed_over(folder: Path, data: bytes) -> None:
    found = repository_of(pointing(folder, b"gitdir: " + data))
    assert found is None or found.identity == found.root == folder


@given(st.text(min_size=1, max_size=80).filter(lambda name: "\0" not in name and "/" not in name))
def test_every_folder_gives_an_id_that_can_be_a_folder(name: str) -> None:
    one = Repository(Path("/x"), Path("/some") / name / ".git")
    other = Repository(Path("/x"), Path("/other") / name / ".git")
    assert check_slug(one.id) == one.id
    assert one.id != other.id
    assert one.id == Repository(Path("/y"), one.identity).id
