import { joinChildren } from "./commit-row.ts";
import { type Head, headOf } from "./dynamo-heads.ts";
import { headKey, nonEmpty, rowKey } from "./dynamo-keys.ts";
import { type Connection, deleteItems, itemsOf, updateItem } from "./dynamo-requests.ts";
import { dropTexts, storedTextIn, storeText } from "./long-text.ts";

/** Children at one version, and the size of the texts that they were read from. */
export interface Children {
  readonly readLength: number;
  /** JSON of heads by key. */
  readonly texts: ReadonlyMap<string, string>;
}

/** A text without a single child: no part is empty. */
const noChildren = "[]";

/** Length of text from which it is worth it. */
const minLength = 256 * 1024;

/**
 * Folds what commits wrote about children into one text, if most of it no longer counts: so a map whose items change again and
 * again takes no more room, and no longer to load, than a few times what is there.
 *
 * Done when an execution is loaded, which has read it anyway. Nothing depends on it; an error is no matter.
 */
export async function foldAway(connection: Connection, head: Head, { readLength, texts }: Children): Promise<void> {
  if (readLength < minLength) return;
  const lines = joinChildren([...texts].map(([key, text]) => ({ key, text, last: false })));
  if (lines.length * 4 > readLength) return;
  // the next load tries again
  await fold(connection, head, lines || noChildren).catch(() => undefined);
}

async function fold(connection: Connection, head: Head, lines: string): Promise<void> {
  const { pk, incarnation, version, baseVersion } = head;
  // never in the head: every commit pays for its size
  const base = await storeText(connection, head, lines, 0);
  const outcome = await updateItem(
    connection,
    { pk, sk: headKey },
    {
      set: { baseParts: base.parts, baseVersion: version },
      when: [
        ["incarnation", "=", nonEmpty(incarnation)],
        ["deletedAt", "absent"],
        baseVersion < 0 ? ["baseVersion", "absent"] : ["baseVersion", "=", baseVersion],
      ],
    },
  );
  // if the answer to the first attempt was lost, the second finds its own work
  if ("stored" in outcome && headOf(connection, outcome.stored)?.base.parts !== base.parts) return dropTexts(connection, head, [base]);
  const from = rowKey(pk, "c", incarnation, baseVersion + 1).sk;
  const to = rowKey(pk, "c", incarnation, version).sk;
  const old = [head.base];
  const keys: { pk: string; sk: string }[] = [];
  for await (const item of itemsOf(connection, pk, { from, to, only: ["sk", "parts"] })) {
    keys.push({ pk, sk: String(item.sk) });
    old.push(storedTextIn(item));
  }
  await deleteItems(connection, keys);
  await dropTexts(connection, head, old);
}
