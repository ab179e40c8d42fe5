import { type FormEvent, type MouseEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useKeys } from "../../../app/keys/use-keys.ts";
import { useNarrow } from "../../../app/use-narrow.ts";
import { Key } from "../../../ui/controls/badge.tsx";
import { Button } from "../../../ui/controls/button.tsx";
import { TextInput } from "../../../ui/controls/input.tsx";
import { Icon } from "../../../ui/icons/icon.tsx";
import { Menu } from "../../../ui/overlay/menu.tsx";
import { Popover } from "../../../ui/overlay/popover.tsx";
import styles from "./filter-bar.module.css";
import { type FilterKind, filterKinds } from "./filter-kinds.tsx";
import { FilterSheet } from "./filter-sheet.tsx";
import { countFilters, type Filters } from "./filters.ts";

/** What the bar needs: the filters, and how to change them. */
export interface FilterBarProps {
  readonly filters: Filters;
  readonly onChange: (change: Partial<Filters>) => void;
}

/** The filters of the list: a box for text, one button for each filter, and the order. On narrow screens they are in a sheet. */
export function FilterBar(props: FilterBarProps): ReactNode {
  const isNarrow = useNarrow();
  return (
    <search className={styles.bar}>
      <TextFilter {...props} />
      {isNarrow ? <SheetButton {...props} /> : <WideFilters {...props} />}
    </search>
  );
}

function WideFilters({ filters, onChange }: FilterBarProps): ReactNode {
  const offered = filterKinds.filter(({ isRare, valueText }) => !isRare || valueText(filters) !== null);
  return (
    <>
      {offered.map((kind) => (
        <FilterChip key={kind.word} kind={kind} filters={filters} onChange={onChange} />
      ))}
      <span className={styles.gap} />
      <Menu
        button={{
          kind: "ghost",
          isSmall: true,
          endIcon: "chevron-down",
          children: filters.order === "oldest" ? "Oldest first" : "Newest first",
        }}
        label="Order"
        align="end"
        entries={[
          { word: "Newest first", onChoose: () => onChange({ order: "newest" }) },
          { word: "Oldest first", onChoose: () => onChange({ order: "oldest" }) },
        ]}
      />
    </>
  );
}

function FilterChip({ kind, filters, onChange }: FilterBarProps & { readonly kind: FilterKind }): ReactNode {
  const { word, valueText, cleared, isRare, Editor } = kind;
  const value = valueText(filters);
  const content = value === null ? word : <SetFilter word={word} value={value} />;
  const clear = ({ currentTarget }: MouseEvent<HTMLElement>): void => {
    // this button goes: the focus stays at the filter, or goes to the search box if the filter goes too
    currentTarget
      .closest(isRare ? "search" : "span")
      ?.querySelector<HTMLElement>(isRare ? "input" : "button")
      ?.focus();
    onChange(cleared);
  };
  return (
    <span className={styles.chip} data-set={value !== null || undefined}>
      <Popover button={{ isSmall: true, endIcon: value === null ? "plus" : undefined, children: content }} label={word}>
        {(close) => <Editor filters={filters} onChange={onChange} onDone={close} />}
      </Popover>
      {value !== null && (
        <button type="button" className={styles.clear} aria-label={`Remove the filter ${word}`} data-tip="Remove" onClick={clear}>
          <Icon name="x" />
        </button>
      )}
    </span>
  );
}

function SetFilter({ word, value }: { readonly word: string; readonly value: string }): ReactNode {
  return (
    <span className={styles.set}>
      {word}{" "}
      <b data-tip={value} data-tip-cut="">
        {value}
      </b>
    </span>
  );
}

function TextFilter({ filters, onChange }: FilterBarProps): ReactNode {
  const [text, setText] = useState(filters.text ?? "");
  const input = useRef<HTMLInputElement>(null);
  // the address may change without the box: by a view, or by going back
  useEffect(() => setText(filters.text ?? ""), [filters.text]);
  useKeys([{ keys: "/", does: "Search by id or text", act: () => input.current?.focus() }]);
  const apply = (event?: FormEvent): void => {
    event?.preventDefault();
    const wanted = text.trim() || null;
    if (wanted !== filters.text) onChange({ text: wanted });
  };
  return (
    <form className={styles.search} onSubmit={apply}>
      <TextInput
        ref={input}
        type="search"
        icon="search"
        aria-label="Id or text"
        placeholder="Id or text"
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => apply()}
        end={text === "" ? <SearchKey /> : <Button kind="ghost" isSmall icon="x" label="Clear" onClick={() => onChange({ text: null })} />}
      />
    </form>
  );
}

function SearchKey(): ReactNode {
  return (
    <span className={styles.key}>
      <Key>/</Key>
    </span>
  );
}

function SheetButton({ filters, onChange }: FilterBarProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const count = countFilters({ ...filters, text: null });
  return (
    <>
      <Button icon="settings-2" onClick={() => setOpen(true)}>
        Filters {count > 0 && <b>{count}</b>}
      </Button>
      {isOpen && <FilterSheet filters={filters} onChange={onChange} onClose={() => setOpen(false)} />}
    </>
  );
}
