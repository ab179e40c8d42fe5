import type { CompiledNode } from "../definition/compiled.ts";
import type { ActivePath, ChildrenState, MapState } from "../snapshot/snapshot.ts";
import { quoted } from "./explain-marks.ts";
import type { Group, OpenStatus } from "./explain-survey.ts";
import { counted } from "./explain-words.ts";

/** How many items of a map are in which state. */
export interface ItemCounts {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Items with a step that can run or is running. */
  readonly underWay: number;
  readonly retrying: number;
  /** Items that wait for an answer or a signal. */
  readonly waiting: number;
  /** Items that wait for something else: a time, or another execution. */
  readonly timed: number;
  /** Items that are ready while the map already runs as many items as its `concurrency` allows. */
  readonly queued: number;
  /** Items that have not begun and were not cancelled. */
  readonly notBegun: number;
}

/** Counts the items of a path's map; null if the path has no map. @param group the open children of the path */
export function itemCounts({ children }: Pick<ActivePath, "children">, group: Group | undefined): ItemCounts | null {
  if (!children?.map) return null;
  const { total, done, failed, cancelled } = children.map;
  const open = (...standings: readonly OpenStatus[]): number =>
    standings.reduce((sum, standing) => sum + (group?.counts[standing] ?? 0), 0);
  const counts = {
    underWay: open("running"),
    retrying: open("retrying"),
    waiting: open("somebody", "signal"),
    timed: open("time"),
    queued: open("place"),
  };
  const begun = Object.values(group?.counts ?? {}).reduce((sum, count) => sum + count, 0);
  return { total, done, failed, cancelled, ...counts, notBegun: total - done - failed - cancelled - begun };
}

/** Describes the children of a path, as a sentence without its subject. */
export function childrenText(path: ActivePath, children: ChildrenState, group: Group | undefined, node: CompiledNode | null): string {
  const items = itemCounts(path, group);
  if (!items) return `runs the workflow "${quoted(children.workflow)}"`;
  const { total, done, failed, cancelled, underWay, retrying, timed, queued, notBegun } = items;
  const { somebody, signal } = group?.counts ?? { somebody: 0, signal: 0 };
  const counts = [
    `${counted(done)} of ${counted(total)} ${total === 1 ? "item" : "items"} done`,
    countText(failed, "failed", "failed"),
    countText(cancelled, "cancelled", "cancelled"),
    countText(underWay, "under way", "under way"),
    countText(retrying, "to be retried", "to be retried"),
    countText(somebody, "waits for an answer", "wait for an answer"),
    countText(signal, "waits for a signal", "wait for a signal"),
    countText(timed, "waits for a time", "wait for a time"),
    countText(queued, "waits for a free slot", "wait for free slots"),
    countText(notBegun, "not begun", "not begun"),
  ].filter((text) => text !== null);
  if (path.draining) return `lets the rest of its items finish: ${counts.join(", ")}`;
  return `has ${counts.join(", ")}${goesOn(children.map!, node)}`;
}

function countText(count: number, one: string, many: string): string | null {
  return count === 0 ? null : `${counted(count)} ${count === 1 ? one : many}`;
}

/** Says when a map is complete, if that can be before all items are done; else, if it is open for more items, that it is. */
function goesOn({ completeWhen, open }: MapState, node: CompiledNode | null): string {
  if (completeWhen !== undefined) return `; goes on when ${counted(completeWhen)} are done`;
  if (node?.completeWhen) return "; goes on as soon as its completeWhen is true";
  return open ? "; takes more items until it is closed" : "";
}
