import { it } from "vitest";
import { readSnapshot } from "../core/read-snapshot.ts";
import { viaJson } from "./engine.fixture.ts";
import { RandomExecution } from "./hostile-snapshots.fixture.ts";
it("x", async () => {
  const e = new RandomExecution(799547);
  let before: unknown;
  const brief = (s: any) => JSON.stringify({ v: s.version, st: s.status, ending: s.ending, paths: s.activePaths.map((p: any) => [p.id, p.nodeId, p.status, p.children?.key]), ch: Object.entries(s.childStates ?? {}).map(([k, c]: any) => [k, c.status, c.kept, c.ending, c.activePaths.map((p: any) => [p.id, p.nodeId, p.status, p.children?.key, p.undoes])]) }, null, 1).replace(/\n\s{3,}/g, " ");
  await e.drive((s) => {
    try { readSnapshot(viaJson(s), e.engine.workflow); } catch (error) { console.log(String(error), brief(before), brief(s)); throw error; }
    before = s;
  });
});
