// The floor: what Node itself costs.
import { cpuMs, peakMb, report } from './probe.mjs';

report({ cpuMs: cpuMs(), peakMb: peakMb(), wallMs: performance.now() });
