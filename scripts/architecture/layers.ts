/** One row of the import table: a part of the house and what it may see. */
export interface Layer {
  /** Its folder below `packages/stepfold/src`; a last `*` means that each folder there is a part of its own. The first row that fits counts. */
  readonly folder: string;
  /** The floor it stands on, for the reader. */
  readonly floor: string;
  /** Parts it may import, values and types; a last `*` means each part there. */
  readonly mayImport: readonly string[];
  /** Runs on Node only, so it may import `node:` modules. */
  readonly node?: true;
  /** Packages whose code is published with it, so that nobody has to install them. */
  readonly takesIn?: readonly string[];
}

/** What the stores of databases and of wrappers may import, each of them. */
const ofDatabase: readonly string[] = ["core", "ports", "stores/kit"];
const ofWrapper: readonly string[] = ["core", "ports", "stores/kit"];

/** The house, from the foundation up. Everything that is not written here is forbidden. */
export const layers: readonly Layer[] = [
  { folder: "core", floor: "foundation", mayImport: [] },
  { folder: "expressions", floor: "ground", mayImport: ["core"] },
  { folder: "ports", floor: "ground", mayImport: ["core"] },
  { folder: "environment", floor: "ground", mayImport: ["ports"] },
  { folder: "urls", floor: "ground", mayImport: ["core"], node: true },
  { folder: "stores/kit", floor: "wing", mayImport: ["core", "ports", "environment"] },
  { folder: "stores/databases/sqlite", floor: "wing", mayImport: [...ofDatabase, "stores/databases/sqlite-dialect"], node: true },
  { folder: "stores/databases/libsql", floor: "wing", mayImport: [...ofDatabase, "stores/databases/sqlite-dialect"] },
  { folder: "stores/databases/d1", floor: "wing", mayImport: [...ofDatabase, "stores/databases/sqlite-dialect"] },
  { folder: "stores/databases/durable-object", floor: "wing", mayImport: [...ofDatabase, "stores/databases/sqlite-dialect"] },
  { folder: "stores/databases/upstash", floor: "wing", mayImport: [...ofDatabase, "stores/databases/redis"] },
  { folder: "stores/databases/*", floor: "wing", mayImport: ofDatabase },
  { folder: "stores/wrappers/values", floor: "wing", mayImport: ofWrapper },
  { folder: "stores/wrappers/compressed", floor: "wing", mayImport: [...ofWrapper, "stores/wrappers/values"], node: true },
  { folder: "stores/wrappers/blobs", floor: "wing", mayImport: [...ofWrapper, "stores/wrappers/values"], node: true },
  { folder: "stores/wrappers/*", floor: "wing", mayImport: [...ofWrapper, "stores/wrappers/values"] },
  { folder: "stores/from-url", floor: "wing", mayImport: [...ofDatabase, "urls", "stores/databases/*"], node: true },
  { folder: "feeds/checked", floor: "wing", mayImport: ["core", "ports"] },
  { folder: "feeds/*", floor: "wing", mayImport: ["core", "ports", "environment", "feeds/checked"] },
  { folder: "queues/checked", floor: "wing", mayImport: ["core", "ports"] },
  { folder: "queues/from-url", floor: "wing", mayImport: ["core", "ports", "urls", "queues/*"], node: true },
  { folder: "queues/*", floor: "wing", mayImport: ["core", "ports", "environment", "queues/checked"] },
  { folder: "engine/node", floor: "1st floor", mayImport: ["core"] },
  {
    folder: "engine",
    floor: "1st floor",
    mayImport: ["core", "expressions", "ports", "environment", "engine/node"],
  },
  { folder: "nodes/http", floor: "1st floor", mayImport: ["core", "engine/node", "nodes"], node: true },
  { folder: "nodes", floor: "1st floor", mayImport: ["core", "engine/node"] },
  { folder: "runtime", floor: "1st floor", mayImport: ["core", "expressions", "ports", "environment", "engine/node", "engine"] },
  { folder: "schedules", floor: "1st floor", mayImport: ["core", "ports", "engine/node", "runtime"], takesIn: ["croner"] },
  { folder: "guest/*", floor: "2nd floor", mayImport: ["core", "ports", "environment", "engine", "guest"] },
  { folder: "guest", floor: "2nd floor", mayImport: ["core", "expressions", "ports", "environment", "engine/node", "engine"] },
  { folder: "serverless", floor: "2nd floor", mayImport: ["core", "ports", "environment", "queues/checked", "queues/sqs", "runtime"] },
  { folder: "webhooks", floor: "2nd floor", mayImport: ["core", "ports", "environment", "runtime", "serverless"] },
  { folder: "testing", floor: "2nd floor", mayImport: ["core", "ports", "environment", "engine/node", "engine", "runtime"] },
];

/** `src/index.ts`, the entry `stepfold`: it only re-exports. */
export const entryMayImport: readonly string[] = ["core", "expressions", "ports", "environment", "engine/node", "engine"];

/** The packages on the roof. They may import every public entry of `stepfold`, and nothing below it. */
export const roof: readonly string[] = ["cli"];

/**
 * The folders inside a part, from below: each row may import the rows before it, and two folders of one row know nothing of
 * each other. So no two folders import each other. `""` is the part's own folder.
 */
export const rooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  core: [
    ["errors"],
    ["values"],
    ["snapshot"],
    ["definition/graph"],
    ["definition"],
    ["transition/draft"],
    ["transition/paths"],
    ["transition/children", "transition/joins"],
    ["transition"],
    ["explain", "reading"],
    [""],
  ],
  expressions: [["evaluation", "pattern"], ["syntax"], ["functions"], ["compile"], ["read-set", "extra"], [""]],
  engine: [["schema"], ["workflow"], ["attempt"], ["commands"], [""]],
  runtime: [["context"], ["commands", "retention"], ["forks"], ["worker"], ["handle"], ["bulk"], [""]],
};

/** The row that a file of the library belongs to, and the folder that is its part. */
export function layerOf(path: string): { readonly layer: Layer; readonly part: string } | undefined {
  for (const layer of layers) {
    const part = partOf(layer.folder, path);
    if (part !== undefined) return { layer, part };
  }
  return undefined;
}

/** Whether a part may import another one. */
export function mayImport({ mayImport: allowed }: Layer, other: string): boolean {
  return allowed.some((folder) => partOf(folder, `${other}/`) === other);
}

function partOf(folder: string, path: string): string | undefined {
  if (!folder.endsWith("/*")) return path.startsWith(`${folder}/`) ? folder : undefined;
  const wing = folder.slice(0, -1);
  const end = path.startsWith(wing) ? path.indexOf("/", wing.length) : -1;
  return end === -1 ? undefined : path.slice(0, end);
}
