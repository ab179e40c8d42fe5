import { type ReactNode, useCallback, useMemo } from "react";
import type { Event } from "stepfold/core";
import type { Running } from "../../graph/card/card.ts";
import { GraphView } from "../../graph/graph-view.tsx";
import { holderOf } from "../../model/holding.ts";
import { rootNode } from "../../model/places.ts";
import { countUpTo } from "../../model/replay/count-up-to.ts";
import type { ExecutionState, StoppedVisit } from "../../model/replay/execution-state.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { classNames } from "../../ui/class-names.ts";
import { TabPanel, Tabs } from "../../ui/controls/tabs.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { countText } from "../../ui/text/number-text.ts";
import { shortIdentifier } from "../../ui/text/short-identifier.ts";
import styles from "./execution-page.module.css";
import { VersionSlider } from "./head/version-slider.tsx";
import { EventsTab } from "./tabs/events-tab.tsx";
import { SnapshotTab } from "./tabs/snapshot-tab.tsx";
import { type PageAddress, type PageTab, pageTabs } from "./use-page-address.ts";
import type { Shown } from "./use-shown.ts";

const words: Readonly<Record<PageTab, string>> = {
  graph: "Graph",
  timeline: "Timeline",
  events: "Events",
  context: "Context",
  json: "JSON",
};
const stillNode: Running = { since: null, owner: null };

/** The tabs of the page, and what they show, beside the inspector. */
export function ExecutionTabs(props: {
  readonly shown: Shown;
  readonly address: PageAddress;
  readonly selected: string | null;
  readonly stands: string | null;
  readonly hasEnded: boolean;
  /** The inspector. */
  readonly children: ReactNode;
}): ReactNode {
  const { shown, address, children, hasEnded } = props;
  const { tab, setTab, setVersion } = address;
  const tabs = pageTabs.map((id) => ({ id, word: words[id], ...(id === "events" && { count: countText(shown.model.events.length) }) }));
  const slider = <VersionSlider hasEnded={hasEnded} onVersion={setVersion} />;
  return (
    <>
      <div className={styles.tabs}>
        <Tabs label="Views of the execution" group="execution" tabs={tabs} selected={tab} onSelect={setTab} end={slider} />
      </div>
      <div className={styles.body}>
        <div className={styles.main}>
          <TabPanel group="execution" id={tab} className={styles.panel}>
            {tab === "graph" && <GraphTab {...props} />}
            {tab === "timeline" && <ShownTimeline {...props} isShort={false} />}
            {tab === "events" && <EventsTab onEvent={(version, place) => address.setEvent(version, nodeAt(shown, place))} />}
            {(tab === "context" || tab === "json") && <SnapshotTab key={tab} isContext={tab === "context"} />}
          </TabPanel>
        </div>
        {children}
      </div>
    </>
  );
}

/** The node of the graph that a sentence is about. */
function nodeAt({ graph }: Shown, place: string): string | null {
  const nodeId = rootNode(place);
  return typeof graph === "object" && graph?.nodes.has(nodeId) ? nodeId : null;
}

type TabProps = Pick<Parameters<typeof ExecutionTabs>[0], "shown" | "address" | "selected" | "stands" | "hasEnded">;

function GraphTab(props: TabProps): ReactNode {
  const { shown, address, selected, stands } = props;
  const { model, revision, graph, state, isPast, holding } = shown;
  const holder = holderOf(holding);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the progress changes in place
  const runningAt = useCallback(
    (nodeId: string): Running => {
      if (isPast) return stillNode;
      const told = [...model.progress.values()].find(({ frame }) => frame.nodeId === nodeId && !frame.pathId.includes(">"));
      return { since: told?.since ?? null, owner: holder === null ? null : shortIdentifier(holder) };
    },
    [model, revision, holder, isPast],
  );
  if (graph === "gone")
    return (
      <EmptyState icon="workflow" title="The definition is gone">
        The graph of this execution cannot be drawn, because its definition is no longer in the store, or may not be seen. Timeline and
        events are complete.
      </EmptyState>
    );
  return (
    <>
      <div className={classNames(styles.panel, styles.graph)}>
        {graph && <GraphView {...{ graph, state, runningAt, selected, stands }} onSelect={address.setNode} />}
      </div>
      <ShownTimeline {...props} isShort />
    </>
  );
}

const noneStopped: readonly StoppedVisit[] = [];
const noneRuns: ReadonlyMap<string, number> = new Map();

/** Since when each node runs that may run now. */
function runningSince(events: readonly Event[], state: ExecutionState | null): ReadonlyMap<string, number> {
  const running = new Map<string, number>();
  for (const [nodeId, { status, standing }] of state?.nodes ?? []) {
    const event = status === "active" && standing && !standing.items ? events[countUpTo(events, standing.since) - 1] : undefined;
    if (event) running.set(nodeId, event.at);
  }
  return running;
}

function ShownTimeline({ shown, address, selected, hasEnded, isShort }: TabProps & { readonly isShort: boolean }): ReactNode {
  const { model, revision, state, isPast, nameOf, graph } = shown;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the events grow in place
  const running = useMemo(
    () => (isPast || hasEnded ? noneRuns : runningSince(model.events, state)),
    [model, revision, state, isPast, hasEnded],
  );
  return (
    <Timeline
      bars={model.bars}
      revision={revision}
      state={state}
      frame={typeof graph === "object" ? (graph?.frame ?? null) : null}
      running={running}
      stopped={model.state?.stopped ?? noneStopped}
      hasEnded={hasEnded}
      pastAt={isPast ? (state?.at ?? null) : null}
      nameOf={nameOf}
      selected={selected}
      onSelect={address.setNode}
      isShort={isShort}
    />
  );
}
