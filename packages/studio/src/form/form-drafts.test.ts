import { waits } from "stepfold";
import { afterEach, describe, expect, it } from "vitest";
import { type History, parcels, startHistory } from "../../test/execution/history.fixture.ts";
import { FormDrafts } from "./form-drafts.ts";

let history: History;

afterEach(() => history.close());

describe("FormDrafts", () => {
  it("keeps what was entered when somebody else answers first, and nothing that is empty", async () => {
    history = await startHistory(parcels, { items: [1, 2] });
    const [first, second] = waits(await history.run.snapshot());
    const drafts = new FormDrafts();
    drafts.of(first!).put("/comment", "my text");
    drafts.of(second!);
    const open = new Set([first!.id, second!.id]);
    expect(drafts.lost(open)).toEqual([]);
    await history.run.resume({ step: "pack[0]/ask", payload: { approved: true }, by: "bob" });
    const left = new Set(waits(await history.run.snapshot()).map(({ id }) => id));
    expect(drafts.lost(left).map(({ wait, draft }) => [wait.address, draft.input("/comment")])).toEqual([["pack[0]/ask", "my text"]]);
    expect(drafts.lost(new Set())).toHaveLength(1);
    expect(drafts.of(first!).input("/comment")).toBe("my text");
    drafts.forget(first!.id);
    expect(drafts.lost(left)).toEqual([]);
  });

  it("does not take an answer for lost that is being sent", async () => {
    history = await startHistory(parcels, { items: [1] });
    const [wait] = waits(await history.run.snapshot());
    const drafts = new FormDrafts();
    const draft = drafts.of(wait!);
    draft.put("/approved", "0");
    let finish: () => void = () => undefined;
    const sent = draft.send(() => new Promise((resolve) => (finish = resolve)));
    expect(drafts.lost(new Set())).toEqual([]);
    finish();
    await sent;
    expect(drafts.lost(new Set())).toHaveLength(1);
  });
});
