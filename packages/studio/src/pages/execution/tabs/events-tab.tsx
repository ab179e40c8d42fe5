import { type ReactNode, useEffect, useMemo, useState } from "react";
import type { EventPart, EventSign } from "stepfold/core";
import { useRows } from "../../../timeline/use-rows.ts";
import { classNames } from "../../../ui/class-names.ts";
import { TextInput } from "../../../ui/controls/input.tsx";
import { Icon, type IconName } from "../../../ui/icons/icon.tsx";
import layout from "../../../ui/layout.module.css";
import type { ShownStatus } from "../../../ui/status/shown-status.ts";
import { StatusGlyph } from "../../../ui/status/status-glyph.tsx";
import { countText } from "../../../ui/text/number-text.ts";
import { clockText } from "../../../ui/text/time-text.ts";
import { useShown } from "../execution-context.ts";
import { EventList, type EventRow, matches, rowOfVersion } from "./event-list.ts";
import styles from "./events-tab.module.css";
import tab from "./tab.module.css";

const rowHeight = 32;

/** All events, each as a sentence. A click looks at its version. */
export function EventsTab({ onEvent }: { readonly onEvent: (version: number, place: string) => void }): ReactNode {
  const { model, revision, version, isPast } = useShown();
  const [text, setText] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a reset the events are told anew
  const list = useMemo(() => new EventList(), [model.events]);
  const all = list.take(model.events);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows grow in place
  const rows = useMemo(() => (text.trim() === "" ? all : all.filter((row) => matches(row, text.trim()))), [all, revision, text]);
  const shown = useRows(rows.length, rowHeight);
  const { reveal, isMeasured } = shown;
  const here = isPast ? rowOfVersion(rows, version) : rows.length - 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another version moves the list
  useEffect(() => {
    if (here >= 0) reveal(here);
  }, [version, isPast, reveal, isMeasured]);
  return (
    <section className={tab.tab} aria-label="Events">
      <div className={tab.tools}>
        <TextInput
          className={styles.search}
          icon="search"
          placeholder="Node, kind or text"
          aria-label="Filter events"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <span className={layout.small}>
          {text.trim() === "" ? `${countText(model.events.length)} events` : `${countText(rows.length)} of ${countText(all.length)} lines`}
        </span>
      </div>
      <div ref={shown.ref} className={styles.scroll}>
        <div className={styles.rows} style={{ height: rows.length * rowHeight }}>
          {rows.slice(shown.first, shown.end).map((row, index) => (
            <Row
              key={`${row.event.version} ${row.index}`}
              row={row}
              top={(shown.first + index) * rowHeight}
              isSelected={isPast && row.event.version === version}
              onEvent={onEvent}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

function Row(props: {
  readonly row: EventRow;
  readonly top: number;
  readonly isSelected: boolean;
  readonly onEvent: (version: number, place: string) => void;
}): ReactNode {
  const { row, top, isSelected, onEvent } = props;
  const { event, index: place, sentence } = row;
  return (
    <button
      type="button"
      className={classNames(styles.row, isSelected && styles.isSelected)}
      style={{ top }}
      aria-pressed={isSelected}
      onClick={() => onEvent(event.version, sentence.place)}
    >
      <span className={styles.version}>{place === 0 ? event.version : ""}</span>
      <span className={layout.small}>{place === 0 ? clockText(event.at) : ""}</span>
      <Sign sign={sentence.sign} />
      <span className={classNames(layout.cut, styles.place)} data-tip={sentence.place} data-tip-cut="">
        {sentence.place}
      </span>
      <span className={layout.cut} data-tip={sentence.parts.map(partText).join(", ").slice(0, 600)} data-tip-cut="">
        {sentence.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence never change
          <span key={index}>
            {index > 0 && ", "}
            <span className={styles.part} data-kind={part.kind}>
              {part.kind === "handle" ? `→ ${part.text}` : part.text}
            </span>
            {part.value !== undefined && <span className={styles.value}>: {part.value}</span>}
          </span>
        ))}
      </span>
    </button>
  );
}

function partText({ text, value }: EventPart): string {
  return value === undefined ? text : `${text}: ${value}`;
}

/** Signs that are a status, and signs that have an icon of their own. */
const statuses: Partial<Record<EventSign, ShownStatus>> = {
  completed: "completed",
  failed: "failed",
  waits: "paused",
  sleeps: "paused",
  spawned: "active",
  retried: "retrying",
  cancelled: "cancelled",
};
const icons: Partial<Record<EventSign, IconName>> = {
  undone: "rotate-ccw",
  moves: "play",
  kept: "inbox",
  added: "plus",
  closed: "lock",
  changed: "info",
  continued: "repeat",
  restarted: "refresh-cw",
  joined: "git-merge",
  ended: "minus",
};

function Sign({ sign }: { readonly sign: EventSign }): ReactNode {
  const status = statuses[sign];
  return status ? <StatusGlyph status={status} isMoving={false} /> : <Icon name={icons[sign] ?? "info"} />;
}
