#!/usr/bin/env node
import { apiServerCommand } from './api-server-command.js';
import { runServerCommand } from './server-command.js';

void runServerCommand(apiServerCommand);
