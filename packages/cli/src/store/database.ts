import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StepfoldError } from "stepfold";
import {
  parseStoreUrl,
  publicUrl,
  type Site,
  type StoreOfUrlOptions,
  type StoreUrl,
  siteFromUrl,
  storeFromUrl,
} from "stepfold/stores/from-url";
import { BadInput } from "../bad-input.ts";
import { namePath } from "../name-path.ts";
import { complain } from "../output.ts";

/** The store of a command. */
export type Store = Awaited<ReturnType<typeof storeFromUrl>>;

/** The database that a command works on. */
export interface Database {
  /** The URL for `storeFromUrl`. It may contain a password. */
  readonly url: string;
  /** The name that people see: a path as they would write it, or a URL without its password. */
  readonly name: string;
  /** Absolute path of an SQLite file; null for anything else. */
  readonly path: string | null;
  /** The folder for data that belongs to the executions: the folder of the SQLite file, else the working directory. */
  readonly folder: string;
  /** The value of `--store` without its password. Null without `--store`: then printed commands need not name the database. */
  readonly flag: string | null;
  /** True if neither `--store` nor `STEPFOLD_STORE` names a database. */
  readonly isDefault: boolean;
}

const defaultPath = join(".stepfold", "dev.db");

/**
 * Returns the database that `--store` names, else `STEPFOLD_STORE`, else `.stepfold/dev.db` in the working directory.
 *
 * @throws BadInput `DATABASE_UNUSABLE` for what is neither a URL nor a path
 */
export function chooseDatabase(flag: string | undefined): Database {
  const named = (flag ?? process.env.STEPFOLD_STORE)?.trim();
  const isDefault = named === undefined || named === "";
  const { url, path: written } = parsed(isDefault ? defaultPath : named, flag === undefined ? "STEPFOLD_STORE" : "--store");
  const shown = flag === undefined ? null : publicUrl(flag.trim());
  if (written === null) return { url, name: publicUrl(url), path: null, folder: process.cwd(), flag: shown, isDefault };
  const path = resolve(written);
  return { url: `sqlite:${path}`, name: namePath(path), path, folder: dirname(path), flag: shown, isDefault };
}

/** Reads a URL or a path before anything quotes it. @throws BadInput `DATABASE_UNUSABLE` */
function parsed(text: string, from: string): StoreUrl {
  try {
    return parseStoreUrl(text);
  } catch (cause) {
    throw new BadInput("DATABASE_UNUSABLE", `What ${from} says ${reasonOf(cause)}`, {
      hint: "Write it without quotes of its own, such as postgres://user@host/database, or the path of an SQLite file",
      cause,
    });
  }
}

/** Opens a database, for a command that prints other commands. Creates a missing SQLite file. @throws BadInput `DATABASE_UNUSABLE` */
export async function openDatabase(database: Database, options: StoreOfUrlOptions = {}): Promise<Store> {
  const store = await openQuietly(database, options);
  noteHiddenPassword(database);
  return store;
}

/** `openDatabase` for a command that prints no other commands. */
export async function openQuietly(database: Database, options: StoreOfUrlOptions = {}): Promise<Store> {
  const { url, name, path, isDefault } = database;
  try {
    if (path !== null) prepareFolder(path, name, isDefault);
    return await storeFromUrl(url, options);
  } catch (cause) {
    if (cause instanceof BadInput) throw cause;
    // the URL is right and its server is at fault, so the hint to name another --store would not help
    if (path === null && (StepfoldError.is(cause, "STORE_UNAVAILABLE") || StepfoldError.is(cause, "STORE_REJECTED"))) throw cause;
    throw unusable(database, cause);
  }
}

/** Calls `siteFromUrl` for a command. @throws BadInput `DATABASE_UNUSABLE` */
export async function openSite(database: Database): Promise<Site> {
  try {
    return await siteFromUrl(database.url);
  } catch (cause) {
    if (StepfoldError.is(cause, "STORE_UNAVAILABLE") || StepfoldError.is(cause, "STORE_REJECTED")) throw cause;
    throw unusable(database, cause);
  }
}

function unusable({ name, path }: Database, cause: unknown): BadInput {
  const hints = {
    file: "Name an SQLite file of Stepfold, or a new one, with --store",
    url: "Name an SQLite file, or a URL such as postgres://user@host/database, with --store or STEPFOLD_STORE",
  };
  // the message of the error already says how to install the driver
  const hint = StepfoldError.is(cause, "DRIVER_MISSING") ? null : hints[path === null ? "url" : "file"];
  return new BadInput("DATABASE_UNUSABLE", `The database ${name} cannot be used: ${reasonOf(cause)}`, { hint, cause });
}

function reasonOf(cause: unknown): string {
  const reason = StepfoldError.is(cause) && "reason" in cause.details ? cause.details.reason : undefined;
  if (!StepfoldError.is(cause) || reason === undefined) return (cause as Error).message;
  // a reason about a part of the URL has to name the part
  return StepfoldError.is(cause, "OPTION_INVALID") && cause.details.option !== "store" ? `its ${cause.details.option} ${reason}` : reason;
}

/** Explains the asterisks that printed commands have in the place of a password. */
function noteHiddenPassword({ flag, url, path }: Database): void {
  if (flag !== null && path === null && flag !== url)
    complain("In printed commands *** stands for what --store keeps secret: put it there, or set STEPFOLD_STORE and leave --store out\n");
}

/** Opens a database; an SQLite file must exist already. @throws BadInput `DATABASE_NOT_FOUND`, `DATABASE_UNUSABLE` */
export async function openExistingDatabase(database: Database, open: typeof openDatabase = openDatabase): Promise<Store> {
  if (database.path === null || existsSync(database.path)) return open(database);
  throw new BadInput("DATABASE_NOT_FOUND", `There is no database ${database.name}`, {
    hint: database.isDefault
      ? "It is made by the first stepfold run in this folder. Are you in another folder? Name the file with --store"
      : "Check the path in --store or STEPFOLD_STORE",
  });
}

function prepareFolder(path: string, name: string, isDefault: boolean): void {
  const folder = dirname(path);
  if (isDefault) makeDefaultFolder(folder);
  else if (!existsSync(folder)) {
    throw new BadInput("DATABASE_UNUSABLE", `The folder of the database ${name} does not exist`, {
      hint: `Make it first: mkdir -p ${namePath(folder)}`,
    });
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new BadInput("DATABASE_UNUSABLE", `${name} is a folder; --store takes a file, which is made if it is not there, or a URL`);
}

function makeDefaultFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const ignore = join(folder, ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
}
