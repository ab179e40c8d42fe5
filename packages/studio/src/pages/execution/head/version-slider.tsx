import { type ReactNode, useMemo } from "react";
import type { Event } from "stepfold/core";
import { countUpTo } from "../../../model/replay/count-up-to.ts";
import { Button } from "../../../ui/controls/button.tsx";
import type { ShownStatus } from "../../../ui/status/shown-status.ts";
import { countText } from "../../../ui/text/number-text.ts";
import { useShown } from "../execution-context.ts";
import styles from "./version-slider.module.css";

/** The width of the line in pixels: so many marks can be told apart. */
const widthPx = 220;
/** If there were more marks, only those of failures are shown. */
const maxMarks = 40;

/** Goes through the versions of the execution: everything is shown as it was then. */
export function VersionSlider({
  hasEnded,
  onVersion,
}: {
  readonly hasEnded: boolean;
  readonly onVersion: (version: number | null) => void;
}): ReactNode {
  const { model, revision, version, isPast } = useShown();
  const { events, last } = model;
  const index = countUpTo(events, version) - 1;
  const most = events.length - 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the events grow in place
  const marks = useMemo(() => marksOf(events), [events, revision]);
  const go = (to: number): void => onVersion(to >= most ? null : (events[Math.max(0, to)]?.version ?? null));
  return (
    <div className={styles.slider}>
      <Button kind="ghost" isSmall icon="chevron-left" label="Version before" onClick={() => go(index - 1)} />
      <span className={styles.track}>
        <span className={styles.fill} style={{ width: `${(100 * index) / Math.max(1, most)}%` }} />
        {marks.map(({ at, status }) => (
          <span key={`${status} ${at}`} className={styles.mark} data-status={status} style={{ left: `${(100 * at) / widthPx}%` }} />
        ))}
        <input
          type="range"
          className={styles.range}
          aria-label="Version"
          aria-valuetext={`version ${version} of ${last}`}
          min={0}
          max={Math.max(0, most)}
          value={Math.max(0, index)}
          onChange={({ currentTarget }) => go(Number(currentTarget.value))}
        />
      </span>
      <Button kind="ghost" isSmall icon="chevron-right" label="Version after" onClick={() => go(index + 1)} />
      <span className={styles.at}>
        <b>v{countText(version)}</b> of {countText(last)}
      </span>
      <span className={styles.live}>{isPast ? "past" : hasEnded ? "ended" : model.link.isLive ? <LiveMark /> : "offline"}</span>
    </div>
  );
}

function LiveMark(): ReactNode {
  return (
    <>
      <i className={styles.dot} />
      live
    </>
  );
}

interface Mark {
  /** In pixels from the left. */
  readonly at: number;
  readonly status: ShownStatus;
}

/** Where attempts have failed and steps have begun to wait; one mark for each pixel. */
function marksOf(events: readonly Event[]): Mark[] {
  const marks = new Map<number, ShownStatus>();
  const most = Math.max(1, events.length - 1);
  for (const [index, event] of events.entries()) {
    const { type } = event;
    // what happens inside a map would hide what happens around it
    if ((type !== "failed" && type !== "timedOut" && type !== "suspended") || event.scope !== undefined) continue;
    const at = Math.round((widthPx * index) / most / 2) * 2;
    if (type === "suspended" && marks.has(at)) continue;
    marks.set(at, type === "suspended" ? "paused" : "failed");
  }
  const all = [...marks].map(([at, status]) => ({ at, status }));
  return all.length > maxMarks ? all.filter(({ status }) => status === "failed") : all;
}
