import { checkWorkflow } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { describe, expect, it } from "vitest";
import { flow } from "../../test/flow.fixture.ts";
import { issueLines, locatedIssues } from "./workflow-issues.ts";

const linesOf = (value: object, others: readonly object[] = []): string[] => {
  const text = JSON.stringify(value, null, 1);
  return issueLines("w.json", locatedIssues({ text, value }, checkWorkflow(value, builtinNodes as never, undefined, others), others));
};

describe("issueLines", () => {
  it("name the place, the node, and the ways that show a doubt", () => {
    const edges = ["s>a", "s>b", "a>j", "b>j", "j>k", "lost>k"];
    const workflow = { ...flow("w", { s: "noop", a: "noop", b: "noop", j: "noop", k: "noop", lost: "noop" }, edges, { start: "s" }) } as {
      nodes: { id: string; join?: number }[];
    };
    workflow.nodes[4]!.join = 2;
    const lines = linesOf(workflow);
    expect(lines.map((line) => line.split("  ").slice(1, 4))).toEqual([
      ["warning", "JOIN_MISSING", "/nodes/3"],
      ["warning", "JOIN_UNREACHABLE", "/nodes/4"],
      ["warning", "JOIN_UNHANDLED", "/nodes/4"],
      ["warning", "NODE_UNREACHABLE", "/nodes/5"],
    ]);
    expect(lines[0]).toMatch(/^w\.json:16:3 {2}.* {2}j: the branches that "s" starts meet here \(s > a > j, s > b > j\)/);
    expect(lines[3]).toContain("lost: no path leads to");
  });

  it("F16 e: tell what is there twice", () => {
    const text = '{"id":"w",\n "nodes":[{"id":"a","type":"noop","data":{"x":1},"data":{"x":2}}],\n "edges":[], "id":"v"}';
    const lines = issueLines("w.json", locatedIssues({ text, value: JSON.parse(text) }, []));
    expect(lines).toEqual([
      "w.json:2:57  error  KEY_DUPLICATE  /nodes/0/data  is there twice: give it once",
      "w.json:3:19  error  KEY_DUPLICATE  /id  is there twice: give it once",
    ]);
  });

  it("tell mistakes inside workflows that the file brings, and those that it only names", () => {
    const review = flow("review", { ask: "aproval" });
    const sub = { sub: ["workflow", { workflow: "review" }] } as const;
    expect(linesOf(flow("w", sub, [], { workflows: { review } }))[0]).toMatch(
      /^w\.json:\d+:\d+ {2}error {2}NODE_TYPE_UNKNOWN {2}\/workflows\/review\/nodes\/0\/type {2}review\/ask: /,
    );
    expect(linesOf(flow("w", sub), [review])[0]).toMatch(
      /^w\.json {2}error {2}NODE_TYPE_UNKNOWN {2}\/workflows\/review\/nodes\/0\/type {2}review\/ask: /,
    );
    expect(linesOf(flow("w", sub))[0]).toMatch(/WORKFLOW_UNKNOWN {2}\/nodes\/0\/data\/workflow {2}sub: /);
  });
});
