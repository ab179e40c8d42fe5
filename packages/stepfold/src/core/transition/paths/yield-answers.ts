import type { EpochMs } from "../../values/json.ts";
import { addConsequence } from "../draft/add-result.ts";
import type { ScopeDraft } from "../draft/draft.ts";
import { actedBy } from "../draft/draft-path.ts";
import { endPath } from "./end-path.ts";

/** Makes answers the results of the steps that waited for them (`Resumed.yields`), so that a process without the code can take them. */
export function yieldAnswers(scope: ScopeDraft, timestamp: EpochMs): void {
  for (const path of [...scope.paths]) {
    const { status, resumed, attempts } = path;
    if (status !== "ready" || !resumed?.yields) continue;
    const output = resumed.by === "timer" ? null : (resumed.payload ?? null);
    const result = { output, timestamp, attempt: attempts + 1, pathId: path.id, version: scope.root.version + 1 };
    addConsequence(scope, path.node, { ...result, ...actedBy(path) });
    endPath(scope, path, null);
  }
}
