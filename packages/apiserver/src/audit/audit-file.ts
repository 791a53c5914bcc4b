import { Buffer } from 'node:buffer';
import { closeSync, openSync, writeSync } from 'node:fs';
import { type AuditEvent, type AuditSink, auditLine } from './audit-event.js';

/**
 * Appends events to a file, one line of JSON each, as kube-apiserver's `--audit-log-path`; `-` is standard output. Only
 * its owner may read a file that it makes.
 */
export function auditFile(path: string): AuditSink & Disposable {
  const descriptor = path === '-' ? 1 : openSync(path, 'a', 0o600);
  return {
    write(event: AuditEvent) {
      const bytes = Buffer.from(auditLine(event));
      let written = 0;
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    },
    [Symbol.dispose]() {
      if (descriptor !== 1) closeSync(descriptor);
    },
  };
}
