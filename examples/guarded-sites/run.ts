// Runs all of it on the cluster that your kubeconfig names, or in the cluster; until SIGTERM or Ctrl-C.
import { createClient, loadConfig, run } from 'riata';
import { installCrds } from 'riata/patterns';
import { ownRegistry, siteRules, sites, siteVersions } from './main.js';
import { Site } from './site.js';

await using client = createClient(await loadConfig());
await installCrds(client, [Site]);
await run(sites, siteRules, siteVersions, ownRegistry);
