// Writes the import table of ARCHITECTURE.md from the tables of the architecture test. With --check it only compares them.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { entryMayImport, type Layer, layers, roof, rooms } from "./architecture/layers.ts";
import { library, root } from "./public-entries.ts";

const path = `${root}/ARCHITECTURE.md`;
const begin = "<!-- import table: written by npm run architecture -->";
const end = "<!-- end of import table -->";

const before = readFileSync(path, "utf8");
const [head, rest] = before.split(begin);
const tail = rest?.split(end)[1];
if (head === undefined || tail === undefined) {
  console.error(`ARCHITECTURE.md has lost its marks: ${begin} and ${end}`);
  process.exit(1);
}
const after = `${head}${begin}\n\n${table()}\n\n${order()}\n\n${end}${tail}`;

if (!process.argv.includes("--check")) writeFileSync(path, after);
else if (after !== before) {
  console.error("ARCHITECTURE.md shows another import table than scripts/architecture/layers.ts: run npm run architecture");
  process.exit(1);
}
console.log("the import table is up to date");

function table(): string {
  const rows = [
    ...layers.filter(exists).map((layer) => [`\`${layer.folder}\``, layer.floor, allowed(layer), layer.node ? "yes" : ""]),
    ["`index.ts`", "front door", list(entryMayImport), ""],
    ...roof.map((name) => [`\`packages/${name}\``, "roof", "any public entry of `stepfold`", "yes"]),
  ];
  return [["part", "floor", "may import", "Node only"], ["---", "---", "---", "---"], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function exists({ folder }: Pick<Layer, "folder">): boolean {
  const wing = `${library}/src/${folder.replace(/\/\*$/, "")}`;
  return existsSync(wing) && readdirSync(wing).length > 0;
}

function allowed({ mayImport }: Layer): string {
  const present = mayImport.filter((folder) => exists({ folder }));
  return list(present) || "nothing";
}

/** Returns the table of the folders inside those parts that have an order of folders. */
function order(): string {
  const rows = Object.entries(rooms).map(([part, floors]) => {
    const names = floors.map((floor) => floor.map((room) => `\`${room || part}\``).join(" and "));
    return [`\`${part}\``, names.join(", ")];
  });
  return [["part", "its folders from below: each imports only those before it"], ["---", "---"], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
