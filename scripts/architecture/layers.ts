/** A row of the import table: a part of the library and the parts that it may import. */
export interface Layer {
  /**
   * The folder of the part below `packages/stepfold/src`. A final `*` means that each folder there is a part of its own. The first
   * matching row counts.
   */
  readonly folder: string;
  /** The floor of the part in the picture of ARCHITECTURE.md; only for readers. */
  readonly floor: string;
  /** The parts that it may import, values and types. A final `*` means each part there. */
  readonly mayImport: readonly string[];
  /** The part runs on Node only, so it may import `node:` modules. */
  readonly node?: true;
  /** Packages whose code is published as part of this one, so that users need not install them. */
  readonly takesIn?: readonly string[];
  /**
   * The part whose published file its code goes into; without this, it has a file of its own. To load a file costs a process about as
   * much as 8 KB of code, so small parts that nearly every entry needs have none.
   */
  readonly publishedIn?: string;
}

/** The parts that every database store and every store wrapper may import. */
const ofDatabase: readonly string[] = ["core", "ports", "stores/kit"];
const ofWrapper: readonly string[] = ["core", "ports", "stores/kit"];

/** The parts of the library, from the foundation up. Imports that this table does not list are forbidden. */
export const layers: readonly Layer[] = [
  { folder: "core", floor: "foundation", mayImport: [] },
  { folder: "expressions", floor: "ground", mayImport: ["core"] },
  { folder: "ports", floor: "ground", mayImport: ["core"], publishedIn: "core" },
  { folder: "environment", floor: "ground", mayImport: ["ports"], publishedIn: "core" },
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
  { folder: "engine/node", floor: "1st floor", mayImport: ["core"], publishedIn: "core" },
  {
    folder: "engine",
    floor: "1st floor",
    mayImport: ["core", "expressions", "ports", "environment", "engine/node"],
  },
  { folder: "durable", floor: "1st floor", mayImport: ["core", "engine/node", "engine"], publishedIn: "engine" },
  { folder: "nodes/http", floor: "1st floor", mayImport: ["core", "engine/node", "nodes"], node: true },
  { folder: "nodes", floor: "1st floor", mayImport: ["core", "engine/node"] },
  { folder: "runtime", floor: "1st floor", mayImport: ["core", "expressions", "ports", "environment", "engine/node", "engine"] },
  { folder: "schedules", floor: "1st floor", mayImport: ["core", "ports", "engine/node", "runtime"], takesIn: ["croner"] },
  { folder: "http", floor: "1st floor", mayImport: ["core", "environment"] },
  { folder: "client", floor: "2nd floor", mayImport: ["core", "ports", "engine"] },
  { folder: "guest/*", floor: "2nd floor", mayImport: ["core", "ports", "environment", "engine", "guest"] },
  { folder: "guest", floor: "2nd floor", mayImport: ["core", "expressions", "ports", "environment", "engine/node", "engine"] },
  {
    folder: "serverless",
    floor: "2nd floor",
    mayImport: ["core", "ports", "environment", "queues/checked", "queues/sqs", "http", "runtime"],
  },
  { folder: "webhooks", floor: "2nd floor", mayImport: ["core", "ports", "environment", "http", "runtime"] },
  { folder: "testing/vitest", floor: "2nd floor", mayImport: ["core", "testing/kit"], publishedIn: "testing/kit" },
  {
    folder: "testing/kit",
    floor: "2nd floor",
    mayImport: ["core", "ports", "environment", "engine/node", "engine", "runtime", "stores/databases/memory"],
  },
  {
    folder: "testing",
    floor: "2nd floor",
    mayImport: ["core", "ports", "environment", "engine/node", "engine", "durable", "runtime", "testing/kit"],
  },
];

/** The parts that `src/index.ts`, the entry `stepfold`, may import. It only re-exports. */
export const entryMayImport: readonly string[] = ["core", "expressions", "ports", "environment", "engine/node", "engine", "durable"];

/** The packages on the roof. They may import every public entry of `stepfold`, and nothing else of it. */
export const roof: readonly string[] = ["cli", "server", "studio"];

/**
 * The folders inside a part, from the lowest up. A row may import the rows before it, and two folders of one row do not import each
 * other, so no two folders import each other. `""` is the part's own folder.
 */
export const rooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  core: [
    ["errors"],
    ["values/hash"],
    ["values/ids"],
    ["values"],
    ["snapshot/parts"],
    ["snapshot"],
    ["definition/graph"],
    ["definition"],
    ["definition/lint"],
    ["definition/compile"],
    ["transition/draft"],
    ["transition/code"],
    ["transition/paths"],
    ["transition/children", "transition/joins"],
    ["transition/events"],
    ["transition"],
    ["restart"],
    ["explain", "reading"],
    ["history"],
    [""],
  ],
  expressions: [["evaluation", "pattern"], ["syntax"], ["functions"], ["compile"], ["read-set", "extra"], [""]],
  engine: [["secrets", "schema"], ["workflow"], ["code"], ["attempt"], ["commands"], [""]],
  runtime: [
    ["callers"],
    ["context/store"],
    ["context"],
    ["commands", "retention"],
    ["forks"],
    ["local"],
    ["delivery"],
    ["worker"],
    ["handle"],
    ["bulk"],
    [""],
  ],
};

/** Returns the row of a file of the library, and the folder of its part. */
export function layerOf(path: string): { readonly layer: Layer; readonly part: string } | undefined {
  for (const layer of layers) {
    const part = partOf(layer.folder, path);
    if (part !== undefined) return { layer, part };
  }
  return undefined;
}

/** True if a part may import another one. */
export function mayImport({ mayImport: allowed }: Layer, other: string): boolean {
  return allowed.some((folder) => partOf(folder, `${other}/`) === other);
}

function partOf(folder: string, path: string): string | undefined {
  if (!folder.endsWith("/*")) return path.startsWith(`${folder}/`) ? folder : undefined;
  const wing = folder.slice(0, -1);
  const end = path.startsWith(wing) ? path.indexOf("/", wing.length) : -1;
  return end === -1 ? undefined : path.slice(0, end);
}
