# bash
