import { installedSize } from '../lib/install.mjs';
import { goal, number, table } from '../lib/series.mjs';

export function size({ riata, clientNode }) {
  const ours = installedSize(riata);
  const theirs = installedSize(clientNode);
  const row = (name, { megabytes, packages }) => [name, number(megabytes, 1), packages];
  return {
    title: 'Installed size',
    text: table(
      ['', 'MB on disk', 'packages'],
      [
        row('riata', ours),
        row('client-node', theirs),
        ['ratio', number(ours.megabytes / theirs.megabytes, 2), number(ours.packages / theirs.packages, 2)],
      ],
    ),
    goals: [goal('installed size', ours.megabytes, 12, ' MB', 1)],
  };
}
