import { type DebugState, type DeltaEvent, listSections, valueSections } from './debug-state.js';

/** The JSON of every part of a state, by section and id. */
export type StateTexts = ReadonlyMap<string, string>;

/** What {@link stateDelta} compares. */
export function stateTexts(state: DebugState): StateTexts {
  const texts = new Map<string, string>();
  for (const section of valueSections) {
    if (state[section] !== undefined) texts.set(section, JSON.stringify(state[section]));
  }
  for (const section of listSections) {
    for (const each of state[section]) texts.set(`${section}\n${each.id}`, JSON.stringify(each));
  }
  return texts;
}

/** What has changed between two states; undefined if nothing has. */
export function stateDelta(
  before: StateTexts,
  { state, texts }: { readonly state: DebugState; readonly texts: StateTexts },
): Pick<DeltaEvent, 'changed' | 'removed'> | undefined {
  const changed: Record<string, unknown> = {};
  const removed: Record<string, string[] | true> = {};
  for (const section of valueSections) {
    if (texts.get(section) === before.get(section)) continue;
    if (texts.has(section)) changed[section] = state[section];
    else removed[section] = true;
  }
  for (const section of listSections) {
    const others = state[section].filter(({ id }) => {
      const name = `${section}\n${id}`;
      return texts.get(name) !== before.get(name);
    });
    if (others.length > 0) changed[section] = others;
  }
  for (const name of before.keys()) {
    const [section = '', id] = name.split('\n', 2);
    if (id === undefined || texts.has(name)) continue;
    const gone = removed[section];
    if (Array.isArray(gone)) gone.push(id);
    else removed[section] = [id];
  }
  const isSame = Object.keys(changed).length === 0 && Object.keys(removed).length === 0;
  return isSame ? undefined : { changed: changed as Partial<DebugState>, removed };
}
