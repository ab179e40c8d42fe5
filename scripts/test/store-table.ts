import { readFileSync, writeFileSync } from "node:fs";

/** The results of the contract for one store. */
export interface StoreRow {
  readonly name: string;
  passed: number;
  failed: number;
  /** The number of tests that were skipped, because the store does not claim to have what they test. */
  notClaimed: number;
  features: {
    readonly clock: "store" | "caller";
    readonly durable: boolean;
    readonly multiProcess: boolean;
    readonly maxValueBytes?: number;
  } | null;
}

const page = new URL("../../docs/stores/README.md", import.meta.url);
const begin = "<!-- written by npm run contract -->";
const end = "<!-- end -->";
/** The least number of stores for a new table. With fewer, only some stores were tested, and the table stays. */
const fewest = 15;

/** Writes the results of the contract into the page of stores. */
export function updateStoreTable(rows: readonly StoreRow[]): void {
  if (rows.length < fewest) return;
  const text = readFileSync(page, "utf8");
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new TypeError(`${page.pathname} has no place for the table`);
  const written = `${text.slice(0, from)}${begin}\n${tableOf(rows)}\n${text.slice(to)}`;
  if (written === text) return;
  writeFileSync(page, written);
  console.log("docs/stores/README.md was written anew");
}

function tableOf(rows: readonly StoreRow[]): string {
  const lines = rows.map(({ name, features, passed, notClaimed }) => {
    const { clock, durable, multiProcess, maxValueBytes } = features!;
    const cells = [
      name,
      clock === "store" ? "the database" : "the caller",
      durable ? "yes" : "no",
      multiProcess ? "yes" : "no",
      maxValueBytes === undefined ? "" : sizeOf(maxValueBytes),
      `${passed} passed${notClaimed > 0 ? `, ${notClaimed} not claimed` : ""}`,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const head =
    "| store | clock of leases | outlives its process | shared by processes | largest value | contract |\n| --- | --- | --- | --- | --- | --- |";
  return `${head}\n${lines.join("\n")}`;
}

function sizeOf(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MB` : `${Math.floor(bytes / 1024)} KB`;
}
