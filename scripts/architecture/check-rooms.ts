import { posix } from "node:path";
import { targetOf } from "./check-imports.ts";
import { layerOf, rooms } from "./layers.ts";
import type { SourceFile } from "./source-file.ts";
import type { Violation } from "./violation.ts";

const library = "packages/stepfold/src/";

/** Checks every import inside a part against the order of the part's folders. */
export function checkRooms(files: readonly SourceFile[]): Violation[] {
  return files.flatMap(({ path, imports }) => {
    const own = roomOf(path);
    if (!own || path === `${library}${own.part}/index.ts`) return [];
    const { part, room, row } = own;
    if (row === -1) return [{ rule: "rooms", path, message: `${part}/${room} is a folder that the table of rooms does not know` }];
    return imports.flatMap(({ specifier, line }) => {
      const target = targetOf(path, specifier);
      const other = target === undefined ? undefined : roomOf(target);
      if (other?.part !== part || other.room === room || (other.row !== -1 && other.row < row)) return [];
      return [{ rule: "rooms", path, line, message: `${nameOf(own)} may not import ${nameOf(other)}` }];
    });
  });
}

interface Room {
  readonly part: string;
  /** The folder inside the part, or `""`. */
  readonly room: string;
  /** The row of the folder in the order of the part; -1 if the table does not have it. */
  readonly row: number;
}

function roomOf(path: string): Room | undefined {
  const part = path.startsWith(library) ? layerOf(path.slice(library.length))?.part : undefined;
  const rows = part === undefined ? undefined : rooms[part];
  if (part === undefined || !rows) return undefined;
  const room = posix.relative(`${library}${part}`, posix.dirname(path));
  return { part, room, row: rows.findIndex((row) => row.includes(room)) };
}

function nameOf({ part, room }: Room): string {
  return room === "" ? part : `${part}/${room}`;
}
