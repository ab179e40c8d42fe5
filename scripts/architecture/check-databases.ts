import { type DatabaseGroup, databaseFiles, sharedFolders } from "./databases.ts";
import type { SourceFile } from "./source-file.ts";
import type { Violation } from "./violation.ts";

const stores = "packages/stepfold/src/stores/";

/**
 * Checks the files of every database against the table of databases: their names, and their total lines of code. Comments are not
 * counted, because a limit on them would make them too short to be understood.
 *
 * @param ceilings the lines of code of databases that are longer than the table allows, by the first folder of their group; these must
 * not grow
 */
export function checkDatabases(
  files: readonly SourceFile[],
  groups: readonly DatabaseGroup[],
  ceilings: Readonly<Record<string, number>> = {},
): Violation[] {
  const known = groups.flatMap(({ folders }) => Object.keys(folders));
  const strangers = files.filter(({ path }) => path.startsWith(`${stores}databases/`) && !known.includes(path.split("/")[5]!));
  return [
    ...strangers.map(({ path }) => ({ rule: "databases", path, message: "is in a folder that the table of databases does not know" })),
    ...groups.flatMap((group) => [...checkFiles(files, group), ...checkLines(files, group, ceilings)]),
  ];
}

function checkFiles(files: readonly SourceFile[], { folders }: DatabaseGroup): Violation[] {
  return Object.entries(folders).flatMap(([name, own]) => {
    const isShared = sharedFolders.includes(name);
    const needed = isShared ? own : ["index", `${name}-store`, ...own];
    const allowed = isShared ? own : [...needed, ...databaseFiles.map((file) => `${name}-${file}`)];
    const folder = `${stores}databases/${name}/`;
    const present = namesIn(files, folder);
    return [
      ...needed
        .filter((file) => !present.includes(file))
        .map((file) => ({ rule: "databases", path: `${folder}${file}.ts`, message: "is missing, or listed in vain" })),
      ...present
        .filter((file) => !allowed.includes(file))
        .map((file) => ({ rule: "databases", path: `${folder}${file}.ts`, message: "is no name that a file of a database has" })),
    ];
  });
}

function namesIn(files: readonly SourceFile[], folder: string): string[] {
  return files.filter(({ path }) => path.startsWith(folder)).map(({ path }) => path.slice(folder.length).replace(/\.ts$/, ""));
}

function checkLines(
  files: readonly SourceFile[],
  { folders, maxLines }: DatabaseGroup,
  ceilings: Readonly<Record<string, number>>,
): Violation[] {
  const names = Object.keys(folders);
  const own = files.filter(({ path }) => names.some((name) => path.startsWith(`${stores}databases/${name}/`)));
  const lines = own.reduce((sum, file) => sum + file.codeLines, 0);
  const path = `${stores}databases/${names[0]}`;
  const ceiling = ceilings[names[0]!];
  const max = ceiling ?? maxLines;
  if (lines > max) return [{ rule: "databases", path, message: `${names.join(" + ")}: ${lines} lines of code, more than ${max}` }];
  if (ceiling === undefined || lines > maxLines) return [];
  return [{ rule: "databases", path, message: `has ${lines} lines of code and needs no ceiling of its own: remove it` }];
}
