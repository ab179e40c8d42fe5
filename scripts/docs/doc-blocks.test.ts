import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkWorkflow } from "../../packages/stepfold/src/engine/workflow/prepared-workflow.ts";
import { httpNode } from "../../packages/stepfold/src/nodes/http/http-node.ts";
import { builtinNodes } from "../../packages/stepfold/src/nodes/index.ts";
import { root } from "../public-entries.ts";
import { blocksOf, docBlocks, kinds, ownTests } from "./doc-blocks.ts";
import { wrongCommands } from "./shell-commands.ts";

const at = ({ page, line }: { readonly page: string; readonly line: number }): string => `${page}:${line}`;

describe("every block of code in the README and the docs", () => {
  it("is of a kind that is run, checked or marked as a fragment", () => {
    expect(
      docBlocks()
        .filter(({ kind }) => !kinds.has(kind))
        .map((block) => `${at(block)}: \`\`\`${block.kind} is neither run nor marked: see scripts/docs/doc-blocks.ts`),
    ).toEqual([]);
  });

  it("that is a program of its own has a test that reads it from its page", () => {
    for (const block of docBlocks("typescript")) {
      const test = ownTests[block.page];
      expect(test, `${at(block)}: no test in \`ownTests\` runs it`).toBeDefined();
      expect(readFileSync(`${root}/${test}`, "utf8"), `${test} runs ${at(block)}`).toContain(block.page);
    }
  });

  it("is found wherever it stands, with its line", () => {
    const text = "a\n\n```ts fragment\nb;\n```\n\n- c\n\n  ```sh\n  d\n  ```\n";
    expect(blocksOf("p.md", text)).toEqual([
      { page: "p.md", line: 4, kind: "ts fragment", code: "b;\n" },
      { page: "p.md", line: 10, kind: "sh", code: "d\n" },
    ]);
  });
});

describe("definitions in the docs", () => {
  it.each(docBlocks("json").map((block) => [at(block), block.code]))("%s can run", (_, code) => {
    expect(mistakesOf(JSON.parse(code) as Definition)).toEqual([]);
  });

  it("are told where they cannot", () => {
    expect(mistakesOf({ id: "w", nodes: [{ id: "a", type: "http", data: { url: "https://a", body: "x" } }], edges: [] })).toEqual([
      "/nodes/0/data/body",
    ]);
    expect(mistakesOf({ id: "a", type: "set", retry: {} })).toEqual(["/nodes/0/retry"]);
  });
});

describe("commands in the docs", () => {
  it.each(docBlocks("sh").map((block) => [at(block), block.code]))("%s exist, with their options", (_, code) => {
    expect(wrongCommands(code)).toEqual([]);
  });

  it("are told where they do not", () => {
    const code =
      "npx stepfold show a --event\nstepfold schedule ad b # c\nnpx @stepfold/cli serve\nnpm run nothing && npm install nobody\nnpx stepfold ls --count\nrm -r x";
    expect(wrongCommands(code)).toEqual([
      "stepfold show has no option --event",
      "stepfold has no command schedule ad",
      "stepfold has no command serve",
      "package.json has no script nothing",
      "nobody is no package that the repository knows",
      "rm is no command that is checked: mark the block as a fragment",
    ]);
  });
});

type Definition = Readonly<Record<string, unknown>>;

/** Returns the places of the mistakes of a definition, or of a node. Types that are not built in are the reader's own, and take anything. */
function mistakesOf(given: Definition): string[] {
  const isNode = typeof given.type === "string";
  if (!isNode && !Array.isArray(given.nodes)) return [];
  const nodes = (isNode ? [given] : given.nodes) as readonly { readonly type: string; readonly compensate?: { readonly type: string } }[];
  const own = nodes.flatMap(({ type, compensate }) => [type, ...(compensate ? [compensate.type] : [])]);
  const executor = (): { data: null } => ({ data: null });
  const nodeDefinitions = { ...Object.fromEntries(own.map((type) => [type, { executor }])), ...builtinNodes, http: httpNode() };
  // a definition that shows only its settings has no nodes
  const filled = nodes.length > 0 ? nodes : [{ id: "n", type: "noop" }];
  const workflow = isNode ? { id: "w", nodes: filled, edges: [] } : { ...given, nodes: filled };
  const errors = checkWorkflow(workflow, nodeDefinitions).filter(({ severity }) => severity === "error");
  return errors.map(({ pointer }) => pointer);
}
