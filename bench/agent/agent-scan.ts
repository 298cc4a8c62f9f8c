/**
 * One pass over 300 cgroup files (100 pods, three files each) as the agent reads them, and the same pass in C on
 * kept descriptors, in interleaved blocks. JSON on stdout; the C side needs a compiler and is left out without one.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createPodScanner } from '#agent/observe/node/kernel-pods.ts';
import { median } from '#bench/shared/support/quantile.ts';
import { NODE_FLAGS } from '#test/agent/agent-process.ts';
import { createPodGroups, type PodGroups } from '#test/agent/pod-groups.ts';
import { environment } from './support/environment.ts';

const BLOCKS = 10;
const PASSES = 200;
const FILES_PER_POD = 3;

/** Reads usage, limit and stat of each group by pread and finds the same numbers; prints microseconds per pass. */
const C_LOOP = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static char buffer[65536];
static double number(const char *at) { double value = 0; while (*at >= '0' && *at <= '9') value = value * 10 + (*at++ - '0'); return value; }
int main(int argc, char **argv) {
  int passes = atoi(argv[1]), pods = argc - 2, *fds = malloc(sizeof(int) * pods * 3);
  const char *names[] = {"memory.usage_in_bytes", "memory.stat", "memory.limit_in_bytes"};
  char path[1024];
  for (int pod = 0; pod < pods; pod++) for (int file = 0; file < 3; file++) {
    snprintf(path, sizeof path, "%s/%s", argv[pod + 2], names[file]);
    if ((fds[pod * 3 + file] = open(path, O_RDONLY)) < 0) return 1;
  }
  struct timespec start, end;
  double sum = 0;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int pass = 0; pass < passes; pass++) for (int pod = 0; pod < pods; pod++) for (int file = 0; file < 3; file++) {
    ssize_t length = pread(fds[pod * 3 + file], buffer, sizeof buffer - 1, 0);
    buffer[length] = 0;
    char *found = file == 1 ? strstr(buffer, "\\ntotal_inactive_file ") : NULL;
    sum += number(found ? found + 21 : buffer);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%.3f\\n", ((end.tv_sec - start.tv_sec) * 1e6 + (end.tv_nsec - start.tv_nsec) / 1e3) / passes);
  return sum < 0;
}`;

function compile(directory: string): string | undefined {
  const source = join(directory, 'scan.c');
  const binary = join(directory, 'scan');
  writeFileSync(source, C_LOOP);
  return spawnSync('cc', ['-O2', '-o', binary, source]).status === 0 ? binary : undefined;
}

function microsecondsInC(binary: string, groups: PodGroups): number {
  const paths = groups.uids.map((uid) => `/sys/fs/cgroup/memory/${groups.kubepods}/burstable/pod${uid}`);
  return Number(execFileSync(binary, [String(PASSES), ...paths], { encoding: 'utf8' }));
}

function createPass(groups: PodGroups): () => void {
  const found = findCgroupLayout('/sys/fs/cgroup', groups.kubepods);
  if (found.kind === 'unknown') throw new Error(found.because);
  const scanner = createPodScanner(found.layout);
  scanner.follow(groups.uids.map((uid) => ({ uid, qos: 'Burstable' })));
  return () => {
    for (const uid of groups.uids)
      if (scanner.readMemory(uid)?.kind !== 'reading') throw new Error(`no reading of ${uid}`);
  };
}

function microsecondsHere(pass: () => void): number {
  const startedAt = performance.now();
  for (let count = 0; count < PASSES; count += 1) pass();
  return ((performance.now() - startedAt) * 1000) / PASSES;
}

function compare(pods: number, binary: string | undefined) {
  const groups = createPodGroups(pods);
  try {
    const pass = createPass(groups);
    microsecondsHere(pass);
    const here: number[] = [];
    const inC: number[] = [];
    for (let block = 0; block < BLOCKS; block += 1) {
      here.push(microsecondsHere(pass));
      if (binary !== undefined) inC.push(microsecondsInC(binary, groups));
    }
    const [node, c] = [median(here), binary === undefined ? undefined : median(inC)];
    const ratio = c === undefined ? undefined : Math.round((node / c) * 100) / 100;
    return {
      pods,
      files: pods * FILES_PER_POD,
      nodeMicroseconds: Math.round(node),
      cMicroseconds: c && Math.round(c),
      ratio,
    };
  } finally {
    groups.remove();
  }
}

function measure(): void {
  const directory = mkdtempSync(join(tmpdir(), 'plimsoll-scan-'));
  try {
    const binary = compile(directory);
    const rows = [50, 100, 500].map((pods) => compare(pods, binary));
    const result = { benchmark: 'agent-scan', blocks: BLOCKS, passes: PASSES, ...environment(), rows };
    console.log(JSON.stringify(result, null, 2));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

// The V8 flags must be the agent's, because they trade speed for memory.
if (NODE_FLAGS.every((flag) => process.execArgv.includes(flag))) measure();
else {
  const { status } = spawnSync(process.execPath, [...NODE_FLAGS, import.meta.filename], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
