import type { Document } from "bson";
import type { Catalog } from "./catalog.ts";
import type { CursorTable } from "./cursor-table.ts";

/** A command as received. Its first field is the command's name, and its value is in most cases the collection's name. */
export type Command = Document & { readonly $db: string };

/** The data that commands work on. */
export interface Storage {
  readonly catalog: Catalog;
  readonly cursors: CursorTable;
}

/** Executes a command synchronously, so that commands never interleave. It throws a CommandError or an error of mingo. */
export type CommandHandler = (command: Command, storage: Storage) => Document;
