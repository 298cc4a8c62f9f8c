import type { AgentConfiguration } from '#agent/configuration.ts';
import type { OwnReading } from './compare-opinion.ts';
import type { Questioned } from './cross-check.ts';
import type { KubeletAddress } from '#agent/observe/kubelet-summary.ts';
import { meminfoSource } from '#agent/observe/meminfo.ts';
import { askNodeOsUtils, askSysteminformation, type SecondOpinion } from '#agent/observe/second-opinions.ts';
import { askSummary } from '#agent/observe/summary-node.ts';

export interface QuestionedPorts {
  readonly kubelet: KubeletAddress | undefined;
  /** The memory signal over the last seconds: the kubelet's own figure may be that old. */
  readonly signal: () => OwnReading | undefined;
}

const DEADLINE_MS = 5000;

/** What the kernel calls available, read at this moment: the same thing that the libraries report. */
function kernelMemory(procfs: string): () => OwnReading | undefined {
  const meminfo = meminfoSource(procfs);
  return () => {
    const answer = meminfo.read();
    if (answer.kind !== 'reading') return undefined;
    const { totalBytes, availableBytes } = answer.value;
    return { totalBytes, lowBytes: availableBytes, highBytes: availableBytes };
  };
}

async function summaryOpinion(kubelet: KubeletAddress): Promise<SecondOpinion> {
  const { summary } = await askSummary(kubelet, AbortSignal.timeout(DEADLINE_MS));
  const { availableBytes = Number.NaN, workingSetBytes = Number.NaN } = summary.readings.memory ?? {};
  return { totalBytes: availableBytes + workingSetBytes, availableBytes };
}

/**
 * Who is asked about the node's memory beside the signal's own source. The libraries read this machine's /proc; held
 * against a summary of another machine (the sandbox's virtual node) the totals tell that nothing can be compared.
 */
export function questionedSources(
  { crossCheck, source, path }: AgentConfiguration,
  { kubelet, signal }: QuestionedPorts,
): readonly Questioned[] {
  if (!crossCheck.enabled) return [];
  const own = source === 'kernel' ? kernelMemory(path.procfs) : signal;
  const libraries: readonly Questioned[] = [
    { name: 'systeminformation', ask: askSysteminformation, own },
    { name: 'node-os-utils', ask: askNodeOsUtils, own },
  ];
  if (source === 'summary' || kubelet === undefined) return libraries;
  return [...libraries, { name: 'kubelet-summary', ask: () => summaryOpinion(kubelet), own: signal }];
}
