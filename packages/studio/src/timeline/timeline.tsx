import { type ReactNode, useMemo, useState } from "react";
import { useNarrow } from "../app/use-narrow.ts";
import type { ExecutionState, StoppedVisit } from "../model/replay/execution-state.ts";
import { type TimeScale, timeScale } from "../model/time/time-scale.ts";
import type { BarLine, TimelineBars } from "../model/time/timeline-bars.ts";
import { withRunning, withStopped } from "../model/time/timeline-rows.ts";
import { classNames } from "../ui/class-names.ts";
import { Button } from "../ui/controls/button.tsx";
import { useNow } from "../ui/text/now.tsx";
import { clockText, durationText } from "../ui/text/time-text.ts";
import styles from "./timeline.module.css";
import { drawnLines, TimelineRow } from "./timeline-row.tsx";
import { useRows } from "./use-rows.ts";

const rowHeight = 28;
/** The room of the names at the left and of the durations at the right. */
const sides = { wide: 168 + 92, narrow: 104 + 72 };
/** The least distance between two times of the axis, in pixels. */
const tickPx = 110;
/** Beyond so many moments no time is folded: it would take long to look for gaps, and there are none. */
const maxTimestamps = 20_000;

/** What happened when, one line for each node. */
export function Timeline(props: {
  readonly bars: TimelineBars;
  /** Rises when the bars have changed. */
  readonly revision: number;
  readonly state: ExecutionState | null;
  /** Since when nodes run now. */
  readonly running: ReadonlyMap<string, number>;
  /** The node that has no line, because it is only the frame of the others. Null: none. */
  readonly frame: string | null;
  /** What the end has stopped. */
  readonly stopped: readonly StoppedVisit[];
  readonly hasEnded: boolean;
  /** The time of the version of the past that is looked at. Null: the present. */
  readonly pastAt: number | null;
  readonly nameOf: (nodeId: string) => string;
  readonly selected: string | null;
  readonly onSelect: (nodeId: string) => void;
  /** Under the graph. */
  readonly isShort: boolean;
}): ReactNode {
  const { bars, revision, state, frame, running, stopped, hasEnded, pastAt, nameOf, selected, onSelect, isShort } = props;
  const [hidesCompleted, setHidesCompleted] = useState(false);
  const now = useNow();
  const isNarrow = useNarrow();
  const begin = bars.begin ?? now;
  const last = bars.end ?? now;
  const end = hasEnded ? last : Math.max(now, last);
  const scale = useScale(bars, revision, begin, end, hasEnded);
  const isHidden = (id: string): boolean => id === frame || (hidesCompleted && state?.nodes.get(id)?.status === "completed");
  const lines = withStopped(withRunning(bars.lines, running), stopped).filter(({ nodeId }) => !isHidden(nodeId));
  const rows = useRows(lines.length, rowHeight);
  const widthPx = Math.max(100, rows.width - (isNarrow ? sides.narrow : sides.wide));
  const seen = lines.slice(rows.first, rows.end);
  const drawn = drawnLines(seen, { scale, end, widthPx });
  return (
    <section className={classNames(styles.timeline, isShort && styles.isShort)} aria-label="Timeline">
      <Caption took={end - begin} hasEnded={hasEnded} hidesCompleted={hidesCompleted} onHide={setHidesCompleted} />
      <Axis scale={scale} widthPx={widthPx} nowAt={pastAt ?? (hasEnded ? null : end)} isPast={pastAt !== null} gutter={rows.gutter} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <div ref={rows.ref} className={styles.scroll} tabIndex={0}>
        <div className={styles.rows} style={{ height: lines.length * rowHeight }}>
          <Lines scale={scale} widthPx={widthPx} nowAt={pastAt ?? (hasEnded ? null : end)} />
          {seen.map((line, index) => (
            <TimelineRow
              key={line.nodeId}
              line={line}
              bars={drawn[index]!}
              name={nameOf(line.nodeId)}
              node={state?.nodes.get(line.nodeId) ?? null}
              end={end}
              top={(rows.first + index) * rowHeight}
              isSelected={line.nodeId === selected}
              onSelect={onSelect}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

function useScale(bars: TimelineBars, revision: number, begin: number, end: number, hasEnded: boolean): TimeScale {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the bars change in place, as the revision says
  const moments = useMemo(() => timestampsOf(bars.lines), [bars, revision]);
  // what still runs has room at its right
  return useMemo(() => timeScale(moments, begin, end, hasEnded ? 1 : 0.95), [moments, begin, end, hasEnded]);
}

function timestampsOf(lines: readonly BarLine[]): number[] {
  const count = lines.reduce((sum, { bars }) => sum + bars.length, 0);
  return count > maxTimestamps / 2 ? [] : lines.flatMap(({ bars }) => bars.flatMap(({ from, to }) => (to === null ? [from] : [from, to])));
}

function Caption(props: {
  readonly took: number;
  readonly hasEnded: boolean;
  readonly hidesCompleted: boolean;
  readonly onHide: (hides: boolean) => void;
}): ReactNode {
  const { took, hasEnded, hidesCompleted, onHide } = props;
  return (
    <div className={styles.caption}>
      <h2>Timeline</h2>
      <span className={styles.note}>
        {durationText(took)} {hasEnded ? "from start to end" : "since the start"}
      </span>
      <span className={styles.legend}>
        <span>
          <i className={styles.bar} data-kind="done" />
          attempt
        </span>
        <span>
          <i className={styles.bar} data-kind="failed" />
          failed
        </span>
        <span>
          <i className={styles.bar} data-kind="delay" />
          retry delay
        </span>
        <span>
          <i className={styles.bar} data-kind="waits" />
          waits
        </span>
        <span>
          <i className={styles.bar} data-kind="children" />
          items
        </span>
      </span>
      <Button kind="ghost" isSmall icon="funnel" aria-pressed={hidesCompleted} onClick={() => onHide(!hidesCompleted)}>
        {hidesCompleted ? "Show completed" : "Hide completed"}
      </Button>
    </div>
  );
}

function Axis(props: {
  readonly scale: TimeScale;
  readonly widthPx: number;
  readonly nowAt: number | null;
  readonly isPast: boolean;
  /** The width of the scroll bar below. */
  readonly gutter: number;
}): ReactNode {
  const { scale, widthPx, nowAt, isPast, gutter } = props;
  const taken = [...(nowAt === null ? [] : [scale.place(nowAt)]), ...scale.folds.map(({ from, to }) => (from + to) / 2)];
  const hasRoom = (at: number): boolean => {
    const px = scale.place(at) * widthPx;
    return px > 30 && px < widthPx - 30 && taken.every((share) => Math.abs(share * widthPx - px) > 64);
  };
  const isBesideNow = (share: number): boolean => nowAt !== null && Math.abs(scale.place(nowAt) - share) * widthPx < 60;
  const ticks = scale.ticks(widthPx, tickPx);
  const isFine = ticks.some((at) => at % 1_000 !== 0);
  return (
    <div className={styles.axis} style={{ paddingRight: gutter }}>
      <div className={styles.ticks}>
        {ticks.filter(hasRoom).map((at) => (
          <span key={at} className={styles.tick} style={{ left: percent(scale.place(at)) }}>
            {isFine ? clockText(at) + millisText(at) : clockText(at)}
          </span>
        ))}
        {scale.folds.map(({ from, to, ms }) => (
          <span
            key={from}
            className={classNames(styles.tick, styles.foldLength, isBesideNow((from + to) / 2) && styles.isBefore)}
            style={{ left: percent((from + to) / 2) }}
          >
            {durationText(ms)}
          </span>
        ))}
        {nowAt !== null && (
          <span className={classNames(styles.tick, styles.nowTick)} style={{ left: percent(scale.place(nowAt)) }}>
            {isPast ? clockText(nowAt) : "now"}
          </span>
        )}
      </div>
    </div>
  );
}

function Lines({
  scale,
  widthPx,
  nowAt,
}: {
  readonly scale: TimeScale;
  readonly widthPx: number;
  readonly nowAt: number | null;
}): ReactNode {
  return (
    <div className={styles.lines}>
      {scale.ticks(widthPx, tickPx).map((at) => (
        <i key={at} className={styles.line} style={{ left: percent(scale.place(at)) }} />
      ))}
      {scale.folds.map(({ from, to }) => (
        <i key={from} className={styles.fold} style={{ left: percent(from), width: percent(to - from) }} />
      ))}
      {nowAt !== null && <i className={styles.now} style={{ left: percent(scale.place(nowAt)) }} />}
    </div>
  );
}

/** The part of a time below a second. */
function millisText(at: number): string {
  return `.${String(Math.floor(at) % 1_000).padStart(3, "0")}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(3)}%`;
}
