import { describe, expect, it } from "vitest";
import type { Json } from "../../../core/values/json.ts";
import { givenMetadata, storedMetadata } from "./metadata-column.ts";

const waits = [{ kind: "external", nodeId: "ask", responders: ["ada"] }] as const;

describe("the column of metadata", () => {
  it("gives back what was put into it, whatever the keys of users look like", () => {
    const looksLikeOurs = { "~stepfold/tenant": "t", "~stepfold/tenant~": 1, "~stepfold/waits": [], "~stepfold/waits/kind": "x" };
    for (const metadata of [{}, { a: 1 }, looksLikeOurs] as Readonly<Record<string, Json>>[]) {
      for (const tenant of [undefined, "acme"]) {
        for (const open of [[], waits]) {
          const given = { metadata, ...(tenant !== undefined && { tenant }), ...(open.length > 0 && { waits: open }) };
          expect(givenMetadata(storedMetadata(metadata, tenant, open))).toEqual(given);
        }
      }
    }
  });

  it("passes over waits that somebody has damaged", () => {
    const damaged = [null, 7, "x", [], {}, { kind: "external" }, { kind: "external", nodeId: "ask", responders: 7 }, ...waits];
    expect(givenMetadata({ a: 1, "~stepfold/waits": damaged as never })).toEqual({ metadata: { a: 1 }, waits });
    expect(givenMetadata({ "~stepfold/waits": 7 })).toEqual({ metadata: {} });
  });
});
