#!/usr/bin/env node
import { runServerCommand } from '@riata/apiserver/server-command';
import { sandboxCommand } from './sandbox-command.js';

void runServerCommand(sandboxCommand);
