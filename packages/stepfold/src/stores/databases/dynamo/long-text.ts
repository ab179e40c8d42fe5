import { bytesOf } from "../../kit/writing/value-limit.ts";
import { rowStart } from "./dynamo-keys.ts";
import { type Connection, deleteItems, itemsOf, putItems } from "./dynamo-requests.ts";

/** Most bytes of text in an item that a transaction writes: it pays twice, and a longer one would not pass a busy partition. */
const maxInlineBytes = 100_000;
/** Most bytes of one part; the service allows 400 KB with keys and names. */
const maxPartBytes = 350_000;

/** Whose text it is. */
export interface TextOwner {
  readonly pk: string;
  readonly incarnation: string;
}

/**
 * Holds a text. Gives what an item has of it: the text itself, or `#`, the number of its parts and their name. No text that is
 * held begins so: all are JSON.
 *
 * What does not fit into an item lies in parts of its own, under a name that is used once. They are written before the
 * item that refers to them, so that nobody ever meets a half; parts that nobody refers to go with the execution.
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

/** The text again; null if parts are missing, as they are once the item that referred to them was replaced. */
export async function readText(connection: Connection, owner: TextOwner, stored: unknown): Promise<string | null> {
  if (typeof stored !== "string" || !isInParts(stored)) return typeof stored === "string" ? stored : null;
  const keys = partKeys(owner, stored);
  const pieces = await itemsOf(connection, owner.pk, { from: keys[0]!, to: keys.at(-1)! });
  return pieces.length === keys.length ? pieces.map(({ text }) => text).join("") : null;
}

/** Deletes the parts of texts that nobody refers to. If that fails they go with the execution. */
export async function dropTexts(connection: Connection, owner: TextOwner, stored: readonly string[]): Promise<void> {
  const keys = stored.flatMap((one) => partKeys(owner, one));
  await deleteItems(connection, owner.pk, keys).catch(() => undefined);
}

/** Whether a text lies in parts. */
export function isInParts(stored: string): boolean {
  return stored.startsWith("#");
}

/** Sort keys of the parts of a text; none if it lies in its item. */
function partKeys({ incarnation }: TextOwner, stored: string): string[] {
  if (!isInParts(stored)) return [];
  const [count, name] = stored.slice(1).split(".") as [string, string];
  const start = `${rowStart("p", incarnation)}${name}#`;
  return Array.from({ length: Number(count) }, (_, index) => start + String(index).padStart(6, "0"));
}

/** Cuts a text into pieces that fit, never within a character. */
function piecesOf(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    let end = at + maxPartBytes;
    // all bytes of a character but the first begin with the bits 10
    while ((bytes[end]! & 0xc0) === 0x80) end--;
    pieces.push(decoder.decode(bytes.subarray(at, end)));
    at = end;
  }
  return pieces;
}
