import type { Document } from "bson";
import type { Catalog } from "./catalog.ts";
import type { CursorTable } from "./cursor-table.ts";

/** A command as it came: the first field is its name and most often names the collection. */
export type Command = Document & { readonly $db: string };

/** What commands work on. */
export interface Storage {
  readonly catalog: Catalog;
  readonly cursors: CursorTable;
}

/** Carries a command out at once, so that commands never mix. Throws a CommandError, or what mingo throws. */
export type CommandHandler = (command: Command, storage: Storage) => Document;
