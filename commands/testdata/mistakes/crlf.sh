#!/bin/sh
echo true
