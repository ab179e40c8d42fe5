import type { ReactNode } from "react";
import type { ExecutionView, MeView } from "stepfold/client";
import { type Holding, holderOf } from "../../../model/holding.ts";
import { scopeReason } from "../../../session/scopes.ts";
import { Badge, Key } from "../../../ui/controls/badge.tsx";
import { Button } from "../../../ui/controls/button.tsx";
import { CopyButton } from "../../../ui/controls/copy-button.tsx";
import { Icon } from "../../../ui/icons/icon.tsx";
import layout from "../../../ui/layout.module.css";
import { Menu, type MenuEntry } from "../../../ui/overlay/menu.tsx";
import type { ShownStatus } from "../../../ui/status/shown-status.ts";
import { StatusChip } from "../../../ui/status/status-word.tsx";
import { useNow } from "../../../ui/text/now.tsx";
import { shortHash, shortIdentifier } from "../../../ui/text/short-identifier.ts";
import { ClockTime } from "../../../ui/text/time.tsx";
import { durationText } from "../../../ui/text/time-text.ts";
import { WholeIdentifier } from "../../../ui/text/whole-identifier.tsx";
import styles from "./execution-head.module.css";

/** What can be done with a whole execution. */
export type ExecutionAction = "cancel" | "retry" | "restart";

interface HeadProps {
  readonly workflowId: string;
  readonly status: ShownStatus;
  readonly definition: { readonly id: string; readonly hash: string } | null;
  readonly head: ExecutionView | null;
  readonly holding: Holding;
  readonly begin: number | null;
  /** When it ended; null: it has not. */
  readonly end: number | null;
  readonly me: MeView;
  /** Why nothing acts; null: it does. */
  readonly still: string | null;
  /** Somebody can answer something. */
  readonly canAnswer: boolean;
  readonly onAct: (action: ExecutionAction) => void;
  readonly onAnswer: () => void;
}

/** What the execution is, and what can be done with it. */
export function ExecutionHead(props: HeadProps): ReactNode {
  const { workflowId, status, canAnswer, still, me, onAnswer } = props;
  const actions = actionsOf(props);
  return (
    <header className={styles.head}>
      <a className={styles.back} href="/executions" aria-label="Executions" data-tip="Executions">
        <Icon name="arrow-left" />
      </a>
      <h1 className={styles.id}>
        <WholeIdentifier id={workflowId} />
      </h1>
      <CopyButton text={workflowId} label="Copy id" isSmall />
      <StatusChip status={status} />
      <HeadFacts {...props} />
      <div className={styles.actions}>
        {actions.map(({ word, icon, disabledReason, onChoose }) => (
          <Button key={word} icon={icon} disabledReason={disabledReason} onClick={onChoose}>
            {word}
          </Button>
        ))}
        {canAnswer && (
          <Button kind="primary" disabledReason={still ?? scopeReason(me, "answer")} onClick={onAnswer}>
            Answer <Key>A</Key>
          </Button>
        )}
      </div>
      <div className={styles.more}>
        <Menu button={{ kind: "ghost", icon: "ellipsis", label: "Actions" }} label="Actions" align="end" entries={actions} />
      </div>
    </header>
  );
}

function HeadFacts({ definition, holding, begin, end }: Pick<HeadProps, "definition" | "holding" | "begin" | "end">): ReactNode {
  const holder = holderOf(holding);
  return (
    <div className={styles.facts}>
      {definition && (
        <span className={styles.fact}>
          <span className={layout.separator} />
          {definition.id}{" "}
          <Badge isMono tip={definition.hash}>
            {shortHash(definition.hash)}
          </Badge>
        </span>
      )}
      {begin !== null && <Lasted begin={begin} end={end} />}
      {holder !== null && (
        <span className={styles.fact} data-tip={`held by ${holder}`}>
          <Icon name="server" />
          {shortIdentifier(holder)}
        </span>
      )}
    </div>
  );
}

function actionsOf({ status, head, me, still, onAct }: HeadProps): MenuEntry[] {
  const reason = still ?? scopeReason(me, "operate");
  const hasEnded = status === "completed" || status === "failed" || status === "cancelled";
  const entry = (word: string, action: ExecutionAction, cannot: string | null, icon?: MenuEntry["icon"]): MenuEntry => ({
    word,
    icon,
    disabledReason: reason ?? cannot,
    onChoose: () => onAct(action),
  });
  if (status === "failed" || status === "cancelled") return [entry("Restart", "restart", null, "rotate-ccw")];
  if (hasEnded) return [];
  const isPending = status === "retrying" || status === "parked" || head?.explanation.places.some((place) => place.status === "retrying");
  return [entry("Cancel", "cancel", null), entry("Retry", "retry", isPending ? null : "No retry is pending.")];
}

function Lasted({ begin, end }: { readonly begin: number; readonly end: number | null }): ReactNode {
  const now = useNow();
  return (
    <>
      <span className={styles.fact}>
        <Icon name="timer" />
        {durationText(end === null ? wholeSeconds(now - begin) : end - begin)}
      </span>
      {end !== null && (
        <span className={`${styles.fact} ${styles.isLesser}`}>
          ended <ClockTime at={end} />
        </span>
      )}
    </>
  );
}

/** What still runs ticks by the second. */
function wholeSeconds(ms: number): number {
  return ms < 1_000 ? ms : Math.floor(ms / 1_000) * 1_000;
}
