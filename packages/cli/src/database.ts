import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StepfoldError } from "stepfold";
import { sqliteStore } from "stepfold/stores/sqlite";
import { BadInput } from "./bad-input.ts";
import { namePath } from "./name-path.ts";

/** What a command keeps executions in. */
export type Store = ReturnType<typeof sqliteStore>;

/** Which database a command works on. */
export interface Database {
  /** Absolute. */
  readonly path: string;
  readonly folder: string;
  /** As the user named it with `--db`; null for `STEPFOLD_DB` and the default, which need not be repeated. */
  readonly flag: string | null;
  readonly isDefault: boolean;
}

const defaultPath = join(".stepfold", "dev.db");

/** The database that `--db` names, else `STEPFOLD_DB`, else `.stepfold/dev.db` here. */
export function chooseDatabase(flag: string | undefined): Database {
  const named = flag ?? process.env.STEPFOLD_DB;
  const isDefault = named === undefined || named === "";
  const path = resolve(isDefault ? defaultPath : named);
  return { path, folder: dirname(path), flag: flag ?? null, isDefault };
}

/** Opens it, and makes it if it is not there. @throws BadInput `DATABASE_UNUSABLE` */
export function openDatabase(database: Database): Store {
  const { path, folder, isDefault } = database;
  const name = namePath(path);
  try {
    if (isDefault) makeDefaultFolder(folder);
    else if (!existsSync(folder))
      throw new BadInput("DATABASE_UNUSABLE", `The folder of the database ${name} does not exist`, {
        hint: `Make it first: mkdir -p ${namePath(folder)}`,
      });
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new BadInput("DATABASE_UNUSABLE", `${name} is a folder; --db takes a file, which is made if it is not there`);
    return sqliteStore(path);
  } catch (cause) {
    if (cause instanceof BadInput) throw cause;
    const reason = StepfoldError.is(cause) && "reason" in cause.details ? cause.details.reason : (cause as Error).message;
    throw new BadInput("DATABASE_UNUSABLE", `The database ${name} cannot be used: ${reason}`, {
      hint: "Name an SQLite file of Stepfold, or a new one, with --db",
      cause,
    });
  }
}

/** Opens it only if it is there. @throws BadInput `DATABASE_NOT_FOUND`, `DATABASE_UNUSABLE` */
export function openExistingDatabase(database: Database): Store {
  if (existsSync(database.path)) return openDatabase(database);
  throw new BadInput("DATABASE_NOT_FOUND", `There is no database ${namePath(database.path)}`, {
    hint: database.isDefault
      ? "It is made by the first stepfold run in this folder. Are you in another folder? Name the file with --db"
      : "Check the path in --db or STEPFOLD_DB",
  });
}

function makeDefaultFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const ignore = join(folder, ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
}
