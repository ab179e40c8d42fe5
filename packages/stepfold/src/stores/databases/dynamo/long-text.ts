import { bytesOf } from "../../kit/writing/value-limit.ts";
import type { Item, Key } from "./dynamo-client.ts";
import { rowStart } from "./dynamo-keys.ts";
import { type Connection, deleteItems, itemsOf, putItems } from "./dynamo-requests.ts";

/** Most bytes of text in an item that a transaction writes: it pays twice, and a longer one would not pass a busy partition. */
const maxInlineBytes = 100_000;
/** Most bytes of one part; the service allows 400 KB with keys and names. */
const maxPartBytes = 350_000;

/** Whose text it is. */
interface Owner {
  readonly pk: string;
  readonly incarnation: string;
}

/** A text as attributes of an item: itself, or where its parts are and how many. */
export interface StoredText {
  readonly text: string | null;
  readonly parts: string | null;
}

/**
 * Holds a text.
 *
 * What does not fit into an item lies in parts of its own, under a name that is used once. They are written before the
 * item that refers to them, so that nobody ever meets a half; parts that nobody refers to go with the execution.
 */
export async function storeText(
  connection: Connection,
  { pk, incarnation }: Owner,
  text: string,
  inlineBytes: number = maxInlineBytes,
): Promise<StoredText> {
  if (text.length * 3 <= inlineBytes || bytesOf(text) <= inlineBytes) return { text, parts: null };
  const pieces = cut(text);
  const parts = `${pieces.length}.${crypto.randomUUID()}`;
  const keys = partKeys({ pk, incarnation }, parts);
  await putItems(
    connection,
    pieces.map((piece, index) => ({ ...keys[index]!, text: piece })),
  );
  return { text: null, parts };
}

/** The text again; null if parts are missing, as they are once the item that referred to them was replaced. */
export async function readText(connection: Connection, owner: Owner, { text, parts }: StoredText): Promise<string | null> {
  if (text !== null || parts === null) return text;
  const keys = partKeys(owner, parts);
  const pieces: string[] = [];
  for await (const item of itemsOf(connection, owner.pk, { from: keys[0]!.sk, to: keys.at(-1)!.sk })) pieces.push(String(item.text));
  return pieces.length === keys.length ? pieces.join("") : null;
}

/** Deletes the parts of texts that nobody refers to. If that fails they go with the execution. */
export async function dropTexts(connection: Connection, owner: Owner, texts: readonly StoredText[]): Promise<void> {
  const keys = texts.flatMap(({ parts }) => (parts === null ? [] : partKeys(owner, parts)));
  await deleteItems(connection, keys).catch(() => undefined);
}

/** How an item says it. */
export function storedTextIn(item: Item, text = "text", parts = "parts"): StoredText {
  const textIn = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return { text: textIn(item[text]), parts: textIn(item[parts]) };
}

function partKeys({ pk, incarnation }: Owner, parts: string): Key[] {
  const [count, name] = parts.split(".") as [string, string];
  const start = `${rowStart("p", incarnation)}${name}#`;
  return Array.from({ length: Number(count) }, (_, index) => ({ pk, sk: start + String(index).padStart(6, "0") }));
}

/** Cuts a text into pieces that fit, never within a character. */
function cut(text: string): string[] {
  const isPlain = bytesOf(text) === text.length;
  const length = isPlain ? maxPartBytes : Math.floor(maxPartBytes / 3);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + length);
    // half of a surrogate pair is no text
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
