/** The longest text that a value may be shown with at once, in characters. */
const maxTextLength = 64 * 1024;
/** So many members are shown at first, and with each further step. */
const memberStep = 100;
/** The most rows of a tree. */
const maxRows = 20_000;

/** A row of a tree. */
export interface TreeRow {
  /** Where the value is: the keys from the root. */
  readonly path: readonly (string | number)[];
  /** Identifies the row among the others of the tree. */
  readonly key: string;
  /** What is shown: `branch`, an object or list that can be opened; `leaf`; `cut`, a value that may not be seen; `more`, further members. */
  readonly kind: "branch" | "leaf" | "cut" | "more";
  /** The key of the member; null at the root. */
  readonly name: string | null;
  readonly text: string;
  /** The type of a leaf, for its colour. */
  readonly type: "string" | "number" | "word" | "list" | "object";
  readonly isOpen: boolean;
}

/** Which branches of a tree are open, and how many members of each are shown. */
export interface TreeView {
  /** By the key of the row: the number of members that are shown. A branch that is not in it is closed. */
  readonly open: ReadonlyMap<string, number>;
}

/**
 * The size of a value that may not be seen; null if it is a value. The server writes `{ "~cut": bytes }` in its place; of an answer it leaves
 * the flags, which decide how it counts.
 */
export function cutBytes(value: unknown): number | null {
  if (typeof value !== "object" || value === null) return null;
  const { "~cut": bytes, ...flags } = value as { readonly "~cut"?: unknown };
  return typeof bytes === "number" && Object.values(flags).every((flag) => typeof flag === "boolean") ? bytes : null;
}

/** Returns a view in which the first levels are open. */
export function openedTree(value: unknown, levels: number): TreeView {
  const open = new Map<string, number>();
  const walk = (one: unknown, key: string, level: number): void => {
    if (level >= levels || typeof one !== "object" || one === null || cutBytes(one) !== null) return;
    open.set(key, memberStep);
    for (const [name, member] of Object.entries(one).slice(0, memberStep)) walk(member, childKey(key, name), level + 1);
  };
  walk(value, "", 0);
  return { open };
}

/** Opens or closes a branch. */
export function toggled({ open }: TreeView, key: string): TreeView {
  const next = new Map(open);
  if (!next.delete(key)) next.set(key, memberStep);
  return { open: next };
}

/** Shows further members of a branch. */
export function withMore({ open }: TreeView, key: string): TreeView {
  return { open: new Map(open).set(key, (open.get(key) ?? 0) + memberStep) };
}

/** Returns the rows of a tree as they stand below each other. What is closed is not looked at. */
export function treeRows(value: unknown, view: TreeView): TreeRow[] {
  const rows: TreeRow[] = [];
  addRows(rows, value, { path: [], key: "", name: null }, view);
  return rows;
}

type Place = Pick<TreeRow, "path" | "key" | "name">;

function addRows(rows: TreeRow[], value: unknown, place: Place, view: TreeView): void {
  if (rows.length >= maxRows) return;
  const cut = cutBytes(value);
  if (cut !== null) rows.push({ ...place, kind: "cut", text: String(cut), type: "word", isOpen: false });
  else if (typeof value !== "object" || value === null) rows.push({ ...place, kind: "leaf", ...leafOf(value), isOpen: false });
  else addBranch(rows, value, place, view);
}

function addBranch(rows: TreeRow[], value: object, place: Place, view: TreeView): void {
  const isList = Array.isArray(value);
  const keys = isList ? null : Object.keys(value);
  const count = keys?.length ?? (value as readonly unknown[]).length;
  const shown = Math.min(count, view.open.get(place.key) ?? 0);
  const isOpen = count > 0 && view.open.has(place.key);
  const text = isList ? `[${count}]` : `{${count}}`;
  rows.push({ ...place, kind: count === 0 ? "leaf" : "branch", text, type: isList ? "list" : "object", isOpen });
  if (!isOpen) return;
  for (let index = 0; index < shown; index++) {
    const name = keys ? keys[index]! : String(index);
    const member = (value as Readonly<Record<string, unknown>>)[name];
    addRows(rows, member, { path: [...place.path, keys ? name : index], key: childKey(place.key, name), name }, view);
  }
  if (shown < count)
    rows.push({ path: place.path, key: place.key, name: null, kind: "more", text: String(count - shown), type: "word", isOpen: false });
}

function leafOf(value: unknown): Pick<TreeRow, "text" | "type"> {
  if (typeof value === "string") return { text: cutValueText(JSON.stringify(value.slice(0, maxTextLength)), value.length), type: "string" };
  if (typeof value === "number") return { text: String(value), type: "number" };
  return { text: String(value), type: "word" };
}

function cutValueText(text: string, length: number): string {
  return length > maxTextLength ? `${text.slice(0, -1)}…"` : text;
}

function childKey(key: string, name: string): string {
  return `${key}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns a value as text to copy or to show whole, cut to 64 KiB. */
export function jsonText(value: unknown): { readonly text: string; readonly left: number } {
  const text = JSON.stringify(value, null, 2) ?? "undefined";
  return { text: text.slice(0, maxTextLength), left: Math.max(0, text.length - maxTextLength) };
}
