import { type ReactNode, useSyncExternalStore } from "react";
import { Key } from "../../ui/controls/badge.tsx";
import { Checkbox } from "../../ui/controls/input.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import type { KeyModel } from "./key-model.ts";
import styles from "./keys-dialog.module.css";

/** Lists the keys that count on this page, and switches them off. */
export function KeysDialog({ keys, onClose }: { readonly keys: KeyModel; readonly onClose: () => void }): ReactNode {
  const isOn = useSyncExternalStore(keys.subscribe, keys.isOn);
  return (
    <Dialog title="Keys" kind="narrow" onClose={onClose}>
      <dl className={styles.list}>
        {keys.getBindings().map(({ keys: pressed, does }) => (
          <div key={pressed} className={styles.entry}>
            <dt>
              {pressed.split(" ").map((key) => (
                <Key key={key}>{key}</Key>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
        <div className={styles.entry}>
          <dt>
            <Key>Enter</Key>
          </dt>
          <dd>Open what has the focus</dd>
        </div>
      </dl>
      <Checkbox checked={isOn} onChange={({ target }) => keys.switch(target.checked)}>
        Single keys act, except in fields
      </Checkbox>
    </Dialog>
  );
}
