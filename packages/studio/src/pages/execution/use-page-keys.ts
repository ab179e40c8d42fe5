import { useKeys } from "../../app/keys/use-keys.ts";
import { countUpTo } from "../../model/replay/count-up-to.ts";
import { type PageAddress, pageTabs } from "./use-page-address.ts";
import type { Shown } from "./use-shown.ts";

/** The single keys of the page. */
export function usePageKeys(props: {
  readonly shown: Shown;
  readonly address: PageAddress;
  readonly selected: string | null;
  /** Where it stands. */
  readonly stands: string | null;
  readonly answer: () => void;
}): void {
  const { shown, address, selected, stands, answer } = props;
  const { model, version, state } = shown;
  const step = (by: number): void => {
    const { events } = model;
    const index = Math.max(0, countUpTo(events, version) - 1 + by);
    address.setVersion(index >= events.length - 1 ? null : (events[index]?.version ?? null));
  };
  const nextFailed = (by: number): void => {
    const failed = [...(state?.nodes ?? [])].filter(([, { status }]) => status === "failed").map(([nodeId]) => nodeId);
    if (failed.length === 0) return;
    const index = selected === null ? -1 : failed.indexOf(selected);
    const from = index < 0 && by < 0 ? 0 : index;
    address.setNode(failed[(from + by + failed.length) % failed.length]!);
  };
  useKeys([
    ...pageTabs.map((tab, index) => ({ keys: String(index + 1), does: `Show the tab ${tab}`, act: () => address.setTab(tab) })),
    { keys: "[", does: "Go to the version before", act: () => step(-1) },
    { keys: "]", does: "Go to the version after", act: () => step(1) },
    { keys: "l", does: "Go back to the present", act: () => address.setVersion(null) },
    { keys: "a", does: "Answer", act: answer },
    { keys: ".", does: "Show where it stands", act: () => stands !== null && address.setNode(stands) },
    { keys: "n", does: "Show the next failed node", act: () => nextFailed(1) },
    { keys: "N", does: "Show the failed node before", act: () => nextFailed(-1) },
  ]);
}
