import { bytesOf } from "../../kit/writing/value-limit.ts";
import { rowStart } from "./dynamo-keys.ts";
import { type Connection, deleteItems, itemsOf, putItems } from "./dynamo-requests.ts";

/**
 * The most bytes of text in an item that a transaction writes. A transaction costs twice as much as a plain write, and a larger item could
 * fail in a busy partition.
 */
const maxInlineBytes = 100_000;
/** The most bytes of one part. The service allows 400 KB with keys and names. */
const maxPartBytes = 350_000;

/** The execution or record that a text belongs to. */
export interface TextOwner {
  readonly pk: string;
  readonly incarnation: string;
}

/**
 * Stores a text. Returns the value of its attribute: the text itself, or a reference to parts: `#`, the number of parts and their name. No
 * stored text begins with `#`, because all are JSON or begin with JSON.
 *
 * A text that does not fit into an item is stored in parts, under a name that is used only once. The parts are written before the item that
 * refers to them, so no reader ever finds half of a text. Parts of an execution to which no item refers are deleted with the execution;
 * those of a record after it was replaced or deleted, and if the process ends just then, they stay.
 */
export async function storeText(
  connection: Connection,
  owner: TextOwner,
  text: string,
  inlineBytes: number = maxInlineBytes,
): Promise<string> {
  if (text.length * 3 <= inlineBytes || bytesOf(text) <= inlineBytes) return text;
  const pieces = piecesOf(text);
  const stored = `#${pieces.length}.${crypto.randomUUID()}`;
  const items = partKeys(owner, stored).map((sk, index) => ({ pk: owner.pk, sk, text: pieces[index] }));
  await putItems(connection, items);
  return stored;
}

/** Reads a stored text. Null if parts are missing, for example because the item that referred to them was replaced meanwhile. */
export async function readText(connection: Connection, owner: TextOwner, stored: unknown): Promise<string | null> {
  if (typeof stored !== "string" || !isInParts(stored)) return typeof stored === "string" ? stored : null;
  const keys = partKeys(owner, stored);
  const pieces = await itemsOf(connection, owner.pk, { from: keys[0]!, to: keys.at(-1)! });
  return pieces.length === keys.length ? pieces.map(({ text }) => text).join("") : null;
}

/** Deletes the parts of texts to which no item refers. If that fails, those of an execution are deleted later together with it, others stay. */
export async function dropTexts(connection: Connection, owner: TextOwner, stored: readonly string[]): Promise<void> {
  const keys = stored.flatMap((one) => partKeys(owner, one));
  await deleteItems(connection, owner.pk, keys).catch(() => undefined);
}

/** Returns true if a stored value refers to parts. */
export function isInParts(stored: string): boolean {
  return stored.startsWith("#");
}

/** Returns the sort keys of the parts of a text; none if the text is in its item. */
function partKeys({ incarnation }: TextOwner, stored: string): string[] {
  if (!isInParts(stored)) return [];
  const [count, name] = stored.slice(1).split(".") as [string, string];
  const start = `${rowStart("p", incarnation)}${name}#`;
  return Array.from({ length: Number(count) }, (_, index) => start + String(index).padStart(6, "0"));
}

/** Cuts a text into pieces of at most `maxPartBytes`, never within a character. */
function piecesOf(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    let end = at + maxPartBytes;
    // in UTF-8 every byte of a character except the first begins with the bits 10
    while ((bytes[end]! & 0xc0) === 0x80) end--;
    pieces.push(decoder.decode(bytes.subarray(at, end)));
    at = end;
  }
  return pieces;
}
